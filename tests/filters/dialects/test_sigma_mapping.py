"""What fields and log sources of rules are called in events, and the values of placeholders."""

from __future__ import annotations

import pytest

import fyke
from fyke.filters.dialects import sigma

RENAMED = """
logsource: {product: windows, category: process_creation}
detection:
    one: {Image|endswith: '\\cmd.exe', OriginalFileName: cmd.exe, User|fieldref: Parent}
    condition: one
"""
MAPPING = """
fields:
    Image: process.executable
    OriginalFileName: process.executable
    User: nobody
logsources:
    - logsource: {product: windows}
      where: "channel = 'Sysmon'"
      fields: {User: user.name, Parent: parent.user}
    - logsource: {product: zeek}
      where: "false"
      fields: {Image: never}
    - logsource: {category: process_creation}
      where: "id = 1"
      fields: {User: less.special}
"""


def test_a_mapping_renames_fields_and_finds_log_sources() -> None:
    rule = sigma.rule(RENAMED, mapping=sigma.read_mapping(MAPPING))
    event = {
        "process": {"executable": ["C:\\cmd.exe", "cmd.exe"]},
        "user": {"name": "ann"},
        "parent": {"user": "ANN"},
    }
    assert rule.filter.matches(event)
    assert not rule.filter.matches({**event, "user": {"name": "bob"}})
    assert not rule.filter.matches({**event, "process": {"executable": "C:\\cmd.exe"}})
    assert not rule.routed_filter().matches({**event, "channel": "Sysmon"})
    assert rule.routed_filter().matches({**event, "channel": "Sysmon", "id": 1})


def test_without_a_condition_the_rule_names_its_log_source() -> None:
    rule = sigma.rule(RENAMED)
    assert str(rule.routed_filter()).startswith(
        "product = 'windows' and category = 'process_creation' and "
    )
    bare = sigma.rule({"detection": {"one": {"a": 1}, "condition": "one"}})
    assert bare.routed_filter() == bare.filter


def test_values_of_placeholders_from_a_text() -> None:
    values = sigma.read_placeholders("Admins: [root, adm*, 7]\nHosts: dc")
    assert values == {"Admins": ["root", "adm*", "7"], "Hosts": ["dc"]}


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("- a", "the mapping: .*; expected a map"),
        ("field: {}", "unknown key 'field'; expected fields, logsources"),
        ("fields: {Image: [a, b]}", "fields: Image: .*; expected a name"),
        ("logsources: {a: b}", "expected a list of maps"),
        ("logsources: [5]", r"logsources\[0\]: 5; expected a map"),
        ("logsources: [{where: 5}]", r"where: 5; expected a filter as text"),
        ("logsources: [{where: 'a ='}]", r"logsources\[0\]: where: "),
        ("logsources: [{logsource: {os: x}}]", "unknown key 'os'; expected product"),
        ("a: [", "while parsing|expected|did not find"),
    ],
)
def test_mappings_that_cannot_be_read(text: str, sentence: str) -> None:
    with pytest.raises(fyke.FilterError, match=sentence):
        sigma.read_mapping(text)


@pytest.mark.parametrize("text", ["- a", "a: {b: c}", "a: [[b]]", "a: [null]"])
def test_values_that_cannot_be_read(text: str) -> None:
    with pytest.raises(fyke.FilterError):
        sigma.read_placeholders(text)
