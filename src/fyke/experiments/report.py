"""The report: one HTML file with nothing outside it; figures lie in it as images."""

from __future__ import annotations

from base64 import b64encode
from collections import Counter
from collections.abc import Iterable, Iterator
from html import escape
from importlib.resources import files
from string import Template
from typing import Final

from fyke.experiments.experiment import Figure, Finding, verdict
from fyke.experiments.outcome import Judged, Outcome

_VERDICTS: Final = ("reproduced", "differs", "not comparable")


def page(outcome: Outcome, images: dict[str, bytes]) -> str:
    """The report of a reproduction; `images` are PNGs by figure."""
    template = (files("fyke.experiments") / "report.html").read_text("utf-8")
    return Template(template).substitute(
        title=escape(outcome.paper.title),
        summary=escape(outcome.paper.summary),
        facts="\n".join(_facts(outcome)),
        origin="\n".join(_origin(outcome)),
        terms="\n".join(_terms(outcome)),
        contents="\n".join(_contents(outcome)),
        figures="\n".join(_section(outcome, each, images) for each in outcome.figures),
        rest="\n".join(_rest(outcome)),
    )


def _facts(outcome: Outcome) -> Iterator[str]:
    counts = Counter(judged.finding.verdict for judged in outcome.claims)
    for name in _VERDICTS:
        css = name.replace(" ", "-")
        yield f"<div><b class={css}>{counts[name]}</b><span>{name}</span></div>"
    divided = sum(_is_divided(judged.finding) for judged in outcome.claims)
    yield f"<div><b>{divided}</b><span>in which steps and time disagree</span></div>"
    yield f"<div><b>{escape(outcome.scale)}</b><span>scale</span></div>"
    yield f"<div><b>{len(outcome.runs)}</b><span>runs</span></div>"
    yield f"<div><b>{outcome.seconds:,.0f} s</b><span>in all</span></div>"


def _is_divided(finding: Finding) -> bool:
    return {True, False} <= set(finding.by.values())


def _origin(outcome: Outcome) -> Iterator[str]:
    for name, value in outcome.origin.facts():
        yield f"<div><span>{escape(name)}</span> <b>{escape(value)}</b></div>"


def _terms(outcome: Outcome) -> Iterator[str]:
    for name, meaning in outcome.paper.terms:
        yield f"<dt>{escape(name)}</dt><dd>{escape(meaning)}</dd>"


def _contents(outcome: Outcome) -> Iterator[str]:
    for figure in outcome.figures:
        yield f'<a href="#figure_{escape(figure.id)}">{escape(_name(figure))}</a>'
    yield '<a href="#claims">claims</a> <a href="#runs">runs</a> <a href="#notes">notes</a>'


def _name(figure: Figure) -> str:
    return f"figure {figure.id}" if figure.id.isdigit() else figure.id


def _section(outcome: Outcome, figure: Figure, images: dict[str, bytes]) -> str:
    alone = [each for each in outcome.claims if each.claim.figures == (figure.id,)]
    title = escape(f"{_name(figure).capitalize()}: {figure.title}")
    image = images.get(figure.id)
    shown = "<p>There are no rows to draw.</p>"
    if image is not None:
        data = b64encode(image).decode()
        shown = f'<img alt="{escape(figure.title)}" src="data:image/png;base64,{data}">'
    file = f"figure_{escape(figure.id)}.csv"
    return (
        f'<section id="figure_{escape(figure.id)}"><h2>{title}</h2>'
        f"<p>{escape(figure.explanation)}</p>{shown}{_claims(alone)}"
        f'<p class=why>Numbers: <a href="{file}">{file}</a></p></section>'
    )


def _claims(claims: Iterable[Judged]) -> str:
    rows = "\n".join(map(_claim, claims))
    if not rows:
        return ""
    head = "<tr><th></th><th>claim</th><th>paper</th><th>ours</th><th>verdict</th></tr>"
    return f"<table>{head}\n{rows}</table>"


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
    """The verdict, and below it that of each measure."""
    lines = [(finding.verdict, finding.verdict)]
    lines += [
        (f"by {name}: {verdict(holds)}", verdict(holds)) for name, holds in finding.by.items()
    ]
    sizes = ("verdict", *("measure",) * len(finding.by))
    return "".join(
        f'<div class="{size} {css.replace(" ", "-")}">{escape(text)}</div>'
        for size, (text, css) in zip(sizes, lines, strict=True)
    )


def _rest(outcome: Outcome) -> Iterator[str]:
    yield (
        '<section id="claims"><h2>All claims</h2>'
        f"{_claims(outcome.claims) or '<p>These figures alone decide none.</p>'}</section>"
    )
    head = "<tr><th>study</th><th>parameters</th><th>seed</th><th>seconds</th><th></th></tr>"
    rows = "\n".join(
        f"<tr><td>{escape(run.study)}</td><td><code>{escape(run.described())}</code></td>"
        f"<td>{run.seed}</td><td>{run.seconds:,.1f}</td>"
        f"<td class=differs>{escape(run.error or '')}</td></tr>"
        for run in outcome.runs
    )
    yield f'<section id="runs"><h2>Runs</h2><table>{head}\n{rows}</table></section>'
    notes = "\n".join(f"<li>{escape(note)}</li>" for note in outcome.paper.notes)
    title = "What was reconstructed, and how it is counted"
    yield f'<section id="notes"><h2>{title}</h2><ul>{notes}</ul></section>'
