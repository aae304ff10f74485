"""The report: one HTML file with nothing outside it; figures lie in it as images."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from html import escape
from typing import Final

from fyke.experiments.experiment import Figure, Finding, verdict
from fyke.experiments.outcome import Judged, Reproduction
from fyke.reports.page import cell, code, document, fact, picture, row, section, table

_VERDICTS: Final = ("reproduced", "differs", "not comparable")


def page(outcome: Reproduction, images: dict[str, bytes]) -> str:
    """Return the page of a reproduction; `images` are PNGs by figure."""
    return document(
        outcome.paper.title, outcome.paper.summary, _facts(outcome), _parts(outcome, images)
    )


def _facts(outcome: Reproduction) -> Iterator[str]:
    counts = Counter(judged.finding.verdict for judged in outcome.claims)
    for name in _VERDICTS:
        yield fact(counts[name], name, name.replace(" ", "-"))
    divided = sum(_is_divided(judged.finding) for judged in outcome.claims)
    yield fact(divided, "in which steps and time disagree")
    yield fact(outcome.scale, "scale")
    yield fact(len(outcome.runs), "runs")
    yield fact(f"{outcome.seconds:,.0f} s", "in all")


def _parts(outcome: Reproduction, images: dict[str, bytes]) -> Iterator[str]:
    yield _origin(outcome)
    if outcome.paper.terms:
        yield section("What is counted and measured", "", _terms(outcome), id="terms")
    yield _contents(outcome)
    for figure in outcome.figures:
        yield _section(outcome, figure, images)
    claims = _claims(outcome.claims) or "<p>These figures alone decide none.</p>"
    yield section("All claims", "", claims, id="claims")
    yield section("Runs", "", _runs(outcome), id="runs")
    notes = "".join(f"<li>{escape(note)}</li>\n" for note in outcome.paper.notes)
    title = "What was reconstructed, and how it is counted"
    yield section(title, "", f"<ul>{notes}</ul>", id="notes")


def _is_divided(finding: Finding) -> bool:
    return {True, False} <= set(finding.by.values())


def _origin(outcome: Reproduction) -> str:
    facts = "".join(
        f"<div><span>{escape(name)}</span> <b>{escape(value)}</b></div>"
        for name, value in outcome.origin.facts()
    )
    return f'<div class="origin">{facts}</div>'


def _terms(outcome: Reproduction) -> str:
    terms = (
        f"<dt>{escape(name)}</dt><dd>{escape(meaning)}</dd>"
        for name, meaning in outcome.paper.terms
    )
    return f"<dl>{''.join(terms)}</dl>"


def _contents(outcome: Reproduction) -> str:
    figures = [(f"figure_{figure.id}", _name(figure)) for figure in outcome.figures]
    links = [*figures, ("claims", "claims"), ("runs", "runs"), ("notes", "notes")]
    shown = " ".join(f'<a href="#{escape(id)}">{escape(name)}</a>' for id, name in links)
    return f"<nav>{shown}</nav>"


def _name(figure: Figure) -> str:
    return f"figure {figure.id}" if figure.id.isdigit() else figure.id


def _section(outcome: Reproduction, figure: Figure, images: dict[str, bytes]) -> str:
    alone = [each for each in outcome.claims if each.claim.figures == (figure.id,)]
    title = f"{_name(figure).capitalize()}: {figure.title}"
    image = images.get(figure.id)
    shown = "<p>There are no rows to draw.</p>" if image is None else picture(figure.title, image)
    file = escape(f"figure_{figure.id}.csv")
    numbers = f'<p class="why">Numbers: <a href="{file}">{file}</a></p>'
    id = f"figure_{figure.id}"
    return section(title, figure.explanation, shown, _claims(alone), numbers, id=id)


def _claims(claims: Iterable[Judged]) -> str:
    rows = [_claim(each) for each in claims]
    return table(("", "claim", "paper", "ours", "verdict"), rows) if rows else ""


def _claim(judged: Judged) -> str:
    claim, finding = judged.claim, judged.finding
    said = "".join(
        f'<div class="why">{name}{escape(text)}</div>'
        for name, text in (
            ("<b>Read as:</b> ", claim.rule),
            ("<b>Circular:</b> ", claim.circular),
        )
        if text
    )
    why = f'<div class="why">{escape(finding.why)}</div>' if finding.why else ""
    return (
        f'<tr><td class="id">{escape(claim.id)}</td><td>{escape(claim.text)}{said}</td>'
        f"<td>{_quoted(claim.paper)}</td><td>{escape(finding.ours)}{why}</td>"
        f"<td>{_verdicts(finding)}{'<div>circular</div>' if claim.circular else ''}</td></tr>"
    )


def _quoted(words: str) -> str:
    return f"<q>{escape(words)}</q>" if words else ""


def _verdicts(finding: Finding) -> str:
    """Return the verdict, and below it that of each measure."""
    lines = [(finding.verdict, finding.verdict)]
    lines += [
        (f"by {name}: {verdict(holds)}", verdict(holds)) for name, holds in finding.by.items()
    ]
    sizes = ("verdict", *("measure",) * len(finding.by))
    return "".join(
        f'<div class="{size} {css.replace(" ", "-")}">{escape(text)}</div>'
        for size, (text, css) in zip(sizes, lines, strict=True)
    )


def _runs(outcome: Reproduction) -> str:
    rows = (
        row(
            cell(run.study),
            code(run.described()),
            cell(str(run.seed), "number"),
            cell(f"{run.seconds:,.1f}", "number"),
            cell(run.error or "", "differs"),
        )
        for run in outcome.runs
    )
    return table(("study", "parameters", "seed", "seconds", ""), rows, (2, 3))
