"""W5: paths and command lines of hosts; filters by prefix, suffix, inner part and glob.

    path      /var/log/mardol/Senbat/gultir_old.json
    command   curl --quiet --telrun=dosmar /etc/lantos/fenrit.conf
    host      host-37

Words are made up by the seed; a filter's pieces are drawn as popular as the events' are. A filter
is of one of the recipes below: a pattern or two, some that ignore case, some for one host only. It
accepts about 1.6 of a thousand events.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, Final

import pyarrow as pa

from fyke.filters.filter import Filter
from fyke.workloads.attribute import Words
from fyke.workloads.composition import Composition, Vocabulary, made_up
from fyke.workloads.draw import Codes, Draw, Stream, row_numbers
from fyke.workloads.drawn import Wording, kind_by_kind
from fyke.workloads.recipe import Recipe, recipe_filter, recipe_sentence
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
def _vocabularies(seed: int) -> dict[str, Vocabulary]:
    words = made_up(Stream(seed, "w5 words"), 1_250)
    return {
        "host": Vocabulary([*map(HOST.value, range(HOST.size))], flat=1),
        "root": Vocabulary(ROOTS, flat=4),
        "owner": Vocabulary(words[:300], flat=15),
        "folder": Vocabulary(words[300:700], flat=40),
        "name": Vocabulary(words[700:950], flat=60),
        "ending": Vocabulary(ENDINGS, flat=1),
        "extension": Vocabulary(EXTENSIONS, flat=3),
        "program": Vocabulary(PROGRAMS, flat=15),
        "flag": Vocabulary(FLAGS, flat=10),
        "option": Vocabulary(words[950:1_050], flat=10),
        "value": Vocabulary(words[1_050:], flat=60),
    }


@dataclass(frozen=True, slots=True)
class _Source:
    """What a seed's rows are drawn from; the pieces of filters stand from column 1 on."""

    events: dict[str, Composition]
    filters: Stream
    pieces: dict[str, Vocabulary]

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
        {name: Composition(Stream(seed, f"w5 {name}"), each) for name, each in events.items()},
        Stream(seed, "w5 filters"),
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
