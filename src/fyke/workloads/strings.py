"""W5: paths and command lines of hosts; filters by prefix, suffix, inner part and glob.

    path      /var/log/mardol/Senbat/gultir_old.json
    command   curl --quiet --telrun=dosmar /etc/lantos/fenrit.conf
    host      host-37

Words are made up by the seed; a filter's pieces are drawn as popular as the events' are. A filter
is of one of the recipes below: a pattern or two, some that ignore case, some for one host only. It
accepts about 1.6 of a thousand events. A recipe is a conjunction of patterns with holes, such as
`path like '{root}*{name}*'`. It makes a filter of the words that fill its holes, or the sentence of
all its filters' canonical texts, for many at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from string import Formatter
from typing import ClassVar, Final, TypeAlias

import pyarrow as pa

from fyke.filters.filter import Filter, conjunction
from fyke.filters.text_predicate import like
from fyke.filters.texts.glob import Glob, glob, to_like
from fyke.workloads.attribute import Words
from fyke.workloads.composition import Composition, PieceVocabulary, made_up
from fyke.workloads.draw import Codes, Draw, RandomStream, row_numbers
from fyke.workloads.drawn import Wording, kind_by_kind
from fyke.workloads.form import Form, Names, Sentence
from fyke.workloads.workload import ColumnarWorkload

HOST: Final = Words("host", 100)
ROOTS: Final = (
    *("/home/", "/usr/lib/", "/var/log/", "/etc/", "/opt/", "/var/lib/", "/tmp/", "/srv/www/"),
    *("/usr/share/", "/mnt/data/", "/usr/local/bin/", "/var/cache/"),
)
ENDINGS: Final = ("", "_old", "_v2", "-backup", "_test", ".min")
EXTENSIONS: Final = (
    *(".log", ".py", ".json", ".conf", ".so", ".txt", ".sh", ".gz", ".yaml", ".service"),
    *(".tmp", ".jar", ".PDF", ".exe", ".DLL", ".db"),
)
PROGRAMS: Final = (
    *("bash", "python3", "curl", "java", "ssh", "git", "grep", "tar", "find", "node", "docker"),
    *("systemctl", "rsync", "openssl", "make", "wget", "perl", "psql", "crontab", "useradd"),
    *("PowerShell.exe", "CertUtil.exe", "Rundll32.exe", "cmd.exe", "WMIC.exe", "MSBuild.exe"),
)
FLAGS: Final = ("-c", "--quiet", "-m", "-x", "--force", "-Enc", "--no_cache", "-u root", "-p 8080")

Recipe: TypeAlias = tuple[tuple[str, str, str], ...]
"""Attribute, operator and pattern of each predicate; a star is any string. No hole occurs twice."""

RECIPES: Final[tuple[Recipe, ...]] = (
    (("path", "like", "{root}{owner}/*"),),
    (("path", "like", "*{name}{extension}"),),
    (("path", "like", "*/{folder}/*"),),
    (("path", "like", "{root}*{name}*"),),
    (("path", "like", "*/{owner}/*{extension}"),),
    (("path", "like", "*/{folder}/*{ending}{extension}"),),
    (("path", "ilike", "*{name}*"),),
    (("path", "ilike", "*/{name}*{extension}"),),
    (("path", "like", "{root}*"), ("path", "like", "*/{folder}/*")),
    (("path", "like", "*{ending}{extension}"), ("command", "like", "*--{option}=*")),
    (("path", "like", "*/{owner}/*"), ("host", "like", "{host}")),
    (("command", "like", "{program} {flag} *"),),
    (("command", "like", "*{value}{extension}"),),
    (("command", "like", "*={value} *"),),
    (("command", "like", "{program} *--{option}=*"),),
    (("command", "like", "*--{option}=*{extension}"),),
    (("command", "ilike", "*{program}*={value}*"),),
    (("command", "like", "{program} *"), ("path", "like", "*{ending}{extension}")),
    (("command", "like", "*--{option}=*"), ("host", "like", "{host}")),
    (("command", "ilike", "{program} *"), ("host", "like", "{host}")),
)


@lru_cache(maxsize=8)
def _vocabularies(seed: int) -> dict[str, PieceVocabulary]:
    words = made_up(RandomStream(seed, "w5 words"), 1_250)
    return {
        "host": PieceVocabulary([*map(HOST.value, range(HOST.size))], flat=1),
        "root": PieceVocabulary(ROOTS, flat=4),
        "owner": PieceVocabulary(words[:300], flat=15),
        "folder": PieceVocabulary(words[300:700], flat=40),
        "name": PieceVocabulary(words[700:950], flat=60),
        "ending": PieceVocabulary(ENDINGS, flat=1),
        "extension": PieceVocabulary(EXTENSIONS, flat=3),
        "program": PieceVocabulary(PROGRAMS, flat=15),
        "flag": PieceVocabulary(FLAGS, flat=10),
        "option": PieceVocabulary(words[950:1_050], flat=10),
        "value": PieceVocabulary(words[1_050:], flat=60),
    }


@dataclass(frozen=True, slots=True)
class _Source:
    """The sources of a seed's rows; the pieces of filters stand from column 1 on."""

    events: dict[str, Composition]
    filters: RandomStream
    pieces: dict[str, PieceVocabulary]

    def draw_pieces(self, draw: Draw) -> dict[str, Codes]:
        vocabularies = enumerate(self.pieces.items(), start=1)
        return {name: draw.pick(vocabulary.choice, at) for at, (name, vocabulary) in vocabularies}


@lru_cache(maxsize=8)
def _source(seed: int) -> _Source:
    words = _vocabularies(seed)
    place = [words["root"], words["owner"].between("", "/"), words["folder"].between("", "/")]
    file = [words["name"], words["ending"], words["extension"]]
    call = [words["program"], words["flag"].between(" ", ""), words["option"].between(" --", "=")]
    target = [words["value"], words["root"].between(" ", ""), words["value"], words["extension"]]
    events = {"path": place + file, "command": call + target, "host": [words["host"]]}
    return _Source(
        {
            name: Composition(RandomStream(seed, f"w5 {name}"), each)
            for name, each in events.items()
        },
        RandomStream(seed, "w5 filters"),
        words,
    )


@dataclass(frozen=True, slots=True)
class StringsWorkload(ColumnarWorkload):
    """Patterns on paths and command lines."""

    name: ClassVar[str] = "w5"

    def columns(self, count: int, start: int = 0) -> pa.Table:
        rows = row_numbers(count, start)
        made = _source(self.seed).events.items()
        return pa.table({name: composition.column(rows) for name, composition in made})

    def text_column(self, count: int, start: int = 0) -> pa.Array:
        draw = Draw(_source(self.seed).filters, row_numbers(count, start))
        makers = [wording.table for wording in _wordings(self.seed)]
        table = kind_by_kind(draw, draw.below(0, len(RECIPES)), makers)
        return table["filter"].combine_chunks()

    def make_filters(self, count: int, start: int) -> Iterator[Filter]:
        source = _source(self.seed)
        draw = Draw(source.filters, row_numbers(count, start))
        codes = source.draw_pieces(draw)
        words = [each.form.column(codes[name]) for name, each in source.pieces.items()]
        recipes = draw.below(0, len(RECIPES)).tolist()
        for recipe, *filling in zip(recipes, *(each.to_pylist() for each in words), strict=True):
            yield recipe_filter(RECIPES[recipe], dict(zip(source.pieces, filling, strict=True)))


@lru_cache(maxsize=8)
def _wordings(seed: int) -> tuple[Wording, ...]:
    source = _source(seed)
    words = {name: vocabulary.words for name, vocabulary in source.pieces.items()}
    return tuple(Wording(recipe_sentence(recipe, words), source.draw_pieces) for recipe in RECIPES)


# --- recipes --------------------------------------------------------------------------------------


def recipe_filter(recipe: Recipe, pieces: Mapping[str, str]) -> Filter:
    """Return the filter of a recipe, with these words in its holes."""
    return conjunction(
        like(attribute, glob(pattern.format_map(pieces).split("*")), operator == "ilike")
        for attribute, operator, pattern in recipe
    )


def recipe_sentence(recipe: Recipe, words: Mapping[str, Sequence[str]]) -> Sentence:
    """Return the texts of a recipe's filters; the holes' codes are places in `words`."""
    texts: list[str] = []
    forms: dict[str, Form] = {}
    for attribute, operator, pattern in recipe:
        printed, text = _printed(operator, glob(pattern.split("*")))
        texts.append(f"{attribute} {printed} '{text}'")
        for _, hole, _, _ in Formatter().parse(pattern):
            if hole is not None:
                forms[hole] = Names(_written(word, printed) for word in words[hole])
    return Sentence(" and ".join(texts), **forms)


def _printed(operator: str, pattern: Glob) -> tuple[str, str]:
    """Return the operator that native text has, and the text between the quotes."""
    if pattern.is_exact:
        return "=", pattern.segments[0]
    if operator == "like":
        if pattern.is_prefix:
            return "starts with", pattern.segments[0]
        if pattern.is_suffix:
            return "ends with", pattern.segments[1]
        if pattern.is_contains:
            return "contains", pattern.segments[1]
    return operator, "%".join(pattern.segments)


def _written(word: str, operator: str) -> str:
    match operator:
        case "like":
            return to_like(Glob((word,)))
        case "ilike":
            return to_like(Glob((word,)).folded())
    return word
