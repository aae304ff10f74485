"""Places by URI: s3://, gs://, hdfs://, abfs://, whatever `pyarrow.fs` opens.

Object stores have no rename and no folders; a file appears whole, when it is closed. So what lies
there is made elsewhere, copied, and counts from the moment its last file is there. `file://` is
this machine's disk, and `s3a://` is what Hadoop calls `s3://`.

Small files lie in a folder or in such a place, whichever a path names: `read`, `write`, `remove`
and `names` do not tell them apart, but that a folder has what was written after a power cut, too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fyke.durable import make_folder, write_whole
from fyke.errors import FykeError, shown

if TYPE_CHECKING:
    from pyarrow import fs


def is_address(path: object) -> bool:
    """Return True for a URI of a place other than this machine's disk."""
    return isinstance(path, str) and "://" in path and not path.startswith("file://")


def absolute(path: str | Path) -> str:
    """Return the address, or the absolute path of a folder on this machine."""
    text = str(path)
    if is_address(text):
        return text
    if text.startswith("file://"):
        text = Place.of(text).root
    return str(Path(text).absolute())


def joined(address: str, *names: str) -> str:
    """Return the address of something below another one; what follows a `?` stays last."""
    path, mark, options = address.partition("?")
    return "/".join([path.rstrip("/"), *names]) + mark + options


def below(path: str, *names: str) -> str:
    """Return the path of something below a folder, or its address below another one."""
    return joined(path, *names) if is_address(path) else str(Path(path, *names))


def told(address: str) -> str:
    """Return an address as it may be shown: without passwords and options."""
    if not is_address(address):
        return address
    return re.sub(r"://[^/@]*@", "://", address).partition("?")[0]


def read(path: str) -> str | None:
    """Return the text of a file; None if there is none."""
    if is_address(path):
        place, name = _parent(path)
        return place.read(name)
    try:
        return Path(path).read_text("utf-8")
    except FileNotFoundError:
        return None


def write(path: str, text: str) -> None:
    """Put a file there, whole; what has that name is replaced."""
    if is_address(path):
        place, name = _parent(path)
        place.write(name, text)
    else:
        make_folder(Path(path).parent)
        write_whole(Path(path), text)


def remove(path: str) -> None:
    """Remove a file, if it is there."""
    if is_address(path):
        place, name = _parent(path)
        place.remove(name)
    else:
        Path(path).unlink(missing_ok=True)


def names(path: str) -> list[str]:
    """Return the names of what lies there, in order; nothing where there is no such folder."""
    if is_address(path):
        return Place.of(path).names()
    folder = Path(path)
    return sorted(each.name for each in folder.iterdir()) if folder.is_dir() else []


def _parent(address: str) -> tuple[Place, str]:
    """Return the place that something lies in, and its name there."""
    path, mark, options = address.partition("?")
    folder, _, name = path.rpartition("/")
    return Place.of(folder + mark + options), name


@dataclass(frozen=True, slots=True)
class Place:
    """A folder by URI."""

    address: str
    files: fs.FileSystem
    root: str

    @classmethod
    def of(cls, address: str) -> Place:
        from pyarrow import fs

        uri = re.sub(r"^s3[an]://", "s3://", address)
        try:
            files, root = fs.FileSystem.from_uri(uri)
        except (OSError, ValueError) as error:
            raise FykeError(
                f"{shown(told(address))} is no place that can be opened: {error}; expected a "
                "folder, or a URI such as s3://bucket/folder, gs://, hdfs:// or abfs://"
            ) from None
        return cls(address, files, root.rstrip("/"))

    def names(self) -> list[str]:
        """Return the names of what lies there, in order; nothing where there is no such folder."""
        from pyarrow import fs

        with self._troubles("listed"):
            selector = fs.FileSelector(self.root, allow_not_found=True)
            return sorted(info.base_name for info in self.files.get_file_info(selector))

    def read(self, name: str) -> str | None:
        """Return the text of a file; None if there is none."""
        with self._troubles("read"):
            try:
                with self.files.open_input_stream(f"{self.root}/{name}") as file:
                    return bytes(file.read()).decode()
            except FileNotFoundError:
                return None

    def write(self, name: str, text: str) -> None:
        """Put a file there, whole; what has that name is replaced."""
        with self._troubles("written to"), self.files.open_output_stream(self._made(name)) as file:
            file.write(text.encode())

    def remove(self, name: str) -> None:
        """Remove a file, or a folder with all that is in it; nothing if it is not there."""
        from pyarrow import fs

        with self._troubles("written to"):
            (info,) = self.files.get_file_info([f"{self.root}/{name}"])
            if info.type == fs.FileType.File:
                self.files.delete_file(info.path)
            elif info.type == fs.FileType.Directory:
                self.files.delete_dir(info.path)

    def put(self, folder: Path, name: str) -> None:
        """Copy a folder of this machine there."""
        from pyarrow import fs

        with self._troubles("written to"):
            fs.copy_files(str(folder), self._made(name), destination_filesystem=self.files)

    def table(self, name: str) -> Any:
        """Return the rows of the Parquet files in a folder there."""
        import pyarrow.parquet as pq

        with self._troubles("read"):
            return pq.read_table(f"{self.root}/{name}", filesystem=self.files)

    def _made(self, name: str) -> str:
        """Return the path of something, whose folder is there afterwards."""
        path = f"{self.root}/{name}"
        if self.files.type_name != "s3":  # where folders are made by their files
            self.files.create_dir(path.rpartition("/")[0], recursive=True)
        return path

    @contextmanager
    def _troubles(self, what: str) -> Iterator[None]:
        try:
            yield
        except (OSError, ValueError) as error:
            raise FykeError(f"{told(self.address)} cannot be {what}: {error}") from None
