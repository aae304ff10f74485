"""W5: paths and command lines of hosts; filters by prefix, suffix, inner part and glob.

    path      /var/log/mardol/Senbat/gultir_old.json
    command   curl --quiet --telrun=dosmar /etc/lantos/fenrit.conf
    host      host-37

Words are made up by the seed; a filter's pieces are drawn as popular as the events' are. A filter
is of one of the recipes below: a pattern or two, some that ignore case, some for one host only. It
accepts about 1.6 of a thousand events.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, ClassVar, Final

from fyke.events.event import Event
from fyke.filters.filter import Filter
from fyke.workloads.attribute import Words, zipf
from fyke.workloads.composition import Composition, Vocabulary, made_up
from fyke.workloads.draw import Choice, Stream
from fyke.workloads.drawn import Wording, kind_by_kind
from fyke.workloads.recipe import Recipe, recipe_filter, recipe_sentence
from fyke.workloads.row import Code, Draw
from fyke.workloads.workload import ColumnarWorkload

if TYPE_CHECKING:
    import pyarrow as pa

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
    """What a seed's rows are drawn from; filter i's pieces stand at the columns of row i."""

    path: Composition
    command: Composition
    hosts: Stream
    filters: Stream
    pieces: tuple[tuple[str, Vocabulary], ...]


@lru_cache(maxsize=8)
def _source(seed: int) -> _Source:
    words = _vocabularies(seed)
    place = [words["root"], words["owner"].between("", "/"), words["folder"].between("", "/")]
    file = [words["name"], words["ending"], words["extension"]]
    call = [words["program"], words["flag"].between(" ", ""), words["option"].between(" --", "=")]
    target = [words["value"], words["root"].between(" ", ""), words["value"], words["extension"]]
    return _Source(
        Composition(Stream(seed, "w5 path"), place + file),
        Composition(Stream(seed, "w5 command"), call + target),
        Stream(seed, "w5 host"),
        Stream(seed, "w5 filters"),
        tuple(words.items()),
    )


@dataclass(frozen=True, slots=True)
class StringsWorkload(ColumnarWorkload):
    """Patterns on paths and command lines."""

    name: ClassVar[str] = "w5"

    def event(self, number: int) -> Event:
        source = _source(self.seed)
        return Event.flat(
            {
                "path": source.path.text(number),
                "command": source.command.text(number),
                "host": HOST.value(HOST.code(source.hosts.half(number, 0))),
            }
        )

    def columns(self, count: int, start: int = 0) -> pa.Table:
        import pyarrow as pa

        from fyke.workloads.vector_draw import half, numbers

        source, rows = _source(self.seed), numbers(count, start)
        return pa.table(
            {
                "path": source.path.column(rows),
                "command": source.command.column(rows),
                "host": HOST.column(HOST.codes(half(source.hosts, rows, 0))),
            }
        )

    def text_column(self, count: int, start: int = 0) -> pa.Array:
        from fyke.workloads.rows import rows_of

        rows = rows_of(_source(self.seed).filters, count, start)
        makers = [wording.table for wording in _wordings(self.seed)]
        table = kind_by_kind(rows, rows.below(0, len(RECIPES)), makers)
        return table["filter"].combine_chunks()

    def filter(self, number: int) -> Filter:
        source = _source(self.seed)
        half = source.filters.half
        recipe = RECIPES[source.filters.below(number, 0, len(RECIPES))]
        host = HOST.value(HOST.code(half(number, 1)))
        drawn = enumerate(source.pieces, start=2)
        pieces = {name: vocabulary.word(half(number, at)) for at, (name, vocabulary) in drawn}
        return recipe_filter(recipe, {**pieces, "host": host})


@lru_cache(maxsize=8)
def _wordings(seed: int) -> tuple[Wording, ...]:
    pieces = _source(seed).pieces
    hosts = tuple(map(HOST.value, range(HOST.size)))
    words = {"host": hosts, **{name: vocabulary.words for name, vocabulary in pieces}}
    choices = (("host", zipf(HOST.size)), *((name, known.choice) for name, known in pieces))
    sketch = _Pieces(choices).drawn
    return tuple(Wording(recipe_sentence(recipe, words), sketch) for recipe in RECIPES)


@dataclass(frozen=True, slots=True)
class _Pieces:
    """What is drawn of a filter besides its recipe, from column 1 on."""

    choices: tuple[tuple[str, Choice], ...]

    def drawn(self, draw: Draw[Code]) -> dict[str, Code]:
        return {name: draw.pick(choice, at) for at, (name, choice) in enumerate(self.choices, 1)}
