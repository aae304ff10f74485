"""Building: from filters, and from text, to the first match; generating them does not count."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.bench import Bench, short
from benchmarks.line import Line, at_most
from benchmarks.pairs import must_agree
from benchmarks.subjects import built

CHECKED = 500


def lines(bench: Bench) -> Iterator[Line]:
    subject = bench.w1(bench.million)
    title, note = f"W1 {short(subject.count)}, build", "CPU; generating the filters subtracted"
    yield Line(
        f"{title} from filters", f"{subject.build_s / subject.count * 1e6:.1f} µs each",
        value=subject.build_s, unit="s", bar=at_most(40), note=note,
    )  # fmt: skip
    bench.say("W1 from text")
    read = built(subject.workload, subject.count, from_text=True)
    checked = bench.events(CHECKED)
    must_agree(from_filters=subject.pairs(checked), from_text=read.pairs(checked))
    yield Line(
        f"{title} from text", f"{read.build_s / read.count * 1e6:.1f} µs each",
        value=read.build_s, unit="s", bar=at_most(90), note=note,
    )  # fmt: skip
