"""A file system by URI on this machine, which Spark can write: `webhdfs://`, served from a folder.

Spark brings the client (Hadoop's). Members of a cluster that share no folder reach it all the same,
as they would reach HDFS. Only the operations that Spark asks for are there.
"""

from __future__ import annotations

import json
import os
import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qs, unquote, urlsplit

_PREFIX: Final = "/webhdfs/v1"
_REDIRECTED: Final = ("OPEN", "CREATE", "APPEND")
"""A name node sends the client on to a data node for these; here to the same server."""


@contextmanager
def serving_files(folder: Path) -> Iterator[str]:
    """Serve a folder; the address of its root."""
    folder.mkdir(parents=True, exist_ok=True)
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(folder))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"webhdfs://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def _handler(folder: Path) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: Any) -> None: ...

        def _answer(self) -> None:
            url = urlsplit(self.path)
            asked = {key: values[0] for key, values in parse_qs(url.query).items()}
            body = self._body()
            if asked["op"] in _REDIRECTED and "sent" not in asked:
                where = f"http://{self.headers['Host']}{self.path}&sent=1"
                self._send(307, b"", Location=where)
                return
            path = folder / unquote(url.path.removeprefix(_PREFIX)).lstrip("/")
            try:
                found = _DO[asked["op"]](folder, path, asked, body)
            except (OSError, KeyError) as error:
                self._send(*_refusal(error))
            else:
                status = 201 if asked["op"] == "CREATE" else 200
                raw = found if isinstance(found, bytes) else json.dumps(found).encode()
                self._send(status, raw)

        do_GET = do_PUT = do_POST = do_DELETE = _answer

        def _body(self) -> bytes:
            if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
                return self.rfile.read(int(self.headers.get("Content-Length") or 0))
            parts = []
            while size := int(self.rfile.readline().split(b";")[0], 16):
                parts.append(self.rfile.read(size))
                self.rfile.readline()
            self.rfile.readline()
            return b"".join(parts)

        def _send(self, status: int, raw: bytes, **headers: str) -> None:
            self.send_response(status)
            for name, value in headers.items():  # no Content-Type: Spark's client cannot read it
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(raw)))
            self.end_headers()
            self.wfile.write(raw)

    return Handler


def _refusal(error: Exception) -> tuple[int, bytes]:
    name = {
        FileNotFoundError: "java.io.FileNotFoundException",
        FileExistsError: "org.apache.hadoop.fs.FileAlreadyExistsException",
        PermissionError: "org.apache.hadoop.security.AccessControlException",
        KeyError: "java.lang.UnsupportedOperationException",
    }.get(type(error), "java.io.IOException")
    told = {"exception": name.rpartition(".")[2], "javaClassName": name, "message": str(error)}
    status = {FileNotFoundError: 404, PermissionError: 403}.get(type(error), 400)
    return status, json.dumps({"RemoteException": told}).encode()


# --- operations: the root, the path, what was asked, and the body ---------------------------------


def _status(path: Path, name: str) -> dict[str, Any]:
    facts, is_folder = path.stat(), path.is_dir()
    return {
        "accessTime": int(facts.st_atime * 1000),
        "blockSize": 2**27,
        "group": "all",
        "length": 0 if is_folder else facts.st_size,
        "modificationTime": int(facts.st_mtime * 1000),
        "owner": "all",
        "pathSuffix": name,
        "permission": "755",
        "replication": 0 if is_folder else 1,
        "type": "DIRECTORY" if is_folder else "FILE",
        "childrenNum": 0,
        "fileId": facts.st_ino,
        "storagePolicy": 0,
    }


def _listed(path: Path) -> dict[str, Any]:
    if path.is_file():
        return {"FileStatuses": {"FileStatus": [_status(path, "")]}}
    found = [_status(each, each.name) for each in sorted(path.iterdir())]
    return {"FileStatuses": {"FileStatus": found}}


def _open(root: Path, path: Path, asked: dict[str, str], body: bytes) -> bytes:
    data = path.read_bytes()[int(asked.get("offset", 0)) :]
    return data[: int(asked["length"])] if "length" in asked else data


def _create(root: Path, path: Path, asked: dict[str, str], body: bytes) -> bytes:
    if path.exists() and asked.get("overwrite", "true") != "true":
        raise FileExistsError(str(path))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(body)
    return b""


def _make_folder(root: Path, path: Path, asked: dict[str, str], body: bytes) -> dict[str, bool]:
    path.mkdir(parents=True, exist_ok=True)
    return {"boolean": True}


def _rename(root: Path, path: Path, asked: dict[str, str], body: bytes) -> dict[str, bool]:
    target = root / asked["destination"].lstrip("/")
    overwrites = "OVERWRITE" in asked.get("renameoptions", "")
    if target.is_dir() and not overwrites:
        target /= path.name
    if not path.exists() or not target.parent.is_dir() or (target.exists() and not overwrites):
        return {"boolean": False}
    os.replace(path, target)
    return {"boolean": True}


def _delete(root: Path, path: Path, asked: dict[str, str], body: bytes) -> dict[str, bool]:
    if not path.exists():
        return {"boolean": False}
    shutil.rmtree(path) if path.is_dir() else path.unlink()
    return {"boolean": True}


_DEFAULTS: Final = {
    **{"blockSize": 2**27, "bytesPerChecksum": 512, "writePacketSize": 65536, "replication": 1},
    **{"fileBufferSize": 4096, "encryptDataTransfer": False, "trashInterval": 0},
    **{"checksumType": 1, "keyProviderUri": "", "defaultStoragePolicyId": 0},
}
Operation = Callable[[Path, Path, dict[str, str], bytes], Any]
_DO: Final[dict[str, Operation]] = {
    "GETFILESTATUS": lambda root, path, asked, body: {"FileStatus": _status(path, "")},
    "GETFILELINKSTATUS": lambda root, path, asked, body: {"FileStatus": _status(path, "")},
    "LISTSTATUS": lambda root, path, asked, body: _listed(path),
    "LISTSTATUS_BATCH": lambda root, path, asked, body: {
        "DirectoryListing": {"partialListing": _listed(path), "remainingEntries": 0}
    },
    "GETHOMEDIRECTORY": lambda root, path, asked, body: {"Path": "/"},
    "GETFILEBLOCKLOCATIONS": lambda root, path, asked, body: {
        "BlockLocations": {"BlockLocation": []}
    },
    "GETSERVERDEFAULTS": lambda root, path, asked, body: {"FsServerDefaults": _DEFAULTS},
    "SETPERMISSION": lambda root, path, asked, body: b"",
    "SETTIMES": lambda root, path, asked, body: b"",
    "OPEN": _open,
    "CREATE": _create,
    "MKDIRS": _make_folder,
    "RENAME": _rename,
    "DELETE": _delete,
}
