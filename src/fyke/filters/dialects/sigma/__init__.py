"""Sigma: detection rules for logs, in YAML (specification version 2).

    detection:
        selection:
            EventID: 4688
            Image|endswith: ['\\\\cmd.exe', '\\\\powershell.exe']
        filter:
            User|contains: 'SYSTEM'
        condition: selection and not filter

Idea. A rule is a Boolean condition over named detections, a detection a tree over fields: it
compiles to predicates, value by value. Residuals stand only at leaves that predicates cannot
express (keywords, which search the whole event; dates' parts; fields compared with fields;
numbers in their text), so the rest of a rule stays indexable and every tree is exact.
Case. Text is compared ignoring case, by simple case folding (`fold` in `fyke.filters.texts.glob`),
unless the key says `cased`.
Log source. It is metadata; `rule(source).typed_filter()` turns it into a `type is` condition.
Source. SigmaHQ/sigma-specification 2.1; where it leaves a choice, the behaviour of pySigma.
docs/dialects/sigma.md lists both.

Inside:

    document, plain, rule   YAML to plain values to a rule
    mapping                 what fields and log sources are called in events; placeholders' values
    modifiers, pattern, expression
                            what modifiers make of values; strings with wildcards; PCRE as RE2
    criteria, compiler, condition
                            what a value demands; detections and conditions as trees
    search                  the meaning of an item by definition: the check behind residuals
"""

from __future__ import annotations

from fyke.filters.dialects.sigma.mapping import SigmaMapping, read_mapping, read_placeholders
from fyke.filters.dialects.sigma.rule import LogSource, SigmaRule, rule
from fyke.filters.dialects.sigma.search import check
from fyke.filters.filter import Filter
from fyke.limits import DEFAULT_LIMITS, Limits

__all__ = [
    "LogSource",
    "SigmaMapping",
    "SigmaRule",
    "check",
    "parse",
    "read_mapping",
    "read_placeholders",
    "rule",
]


def parse(source: object, limits: Limits = DEFAULT_LIMITS, *, logsource: bool = False) -> Filter:
    """Read the filter of a rule; with `logsource`, only for events of the log source's type."""
    read = rule(source, limits)
    return read.typed_filter() if logsource else read.filter
