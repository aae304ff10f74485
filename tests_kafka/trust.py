"""Whom Python trusts, for Java.

The Java of a wheel brings its own list of authorities, and knows nothing of one that the owner of
the machine or of the network has added. Python's list as a key store in the format JKS: a number of
certificates, and a sum over all of it.
"""

from __future__ import annotations

import os
import ssl
import struct
from hashlib import sha1
from pathlib import Path
from typing import Final

_MAGIC: Final = 0xFEEDFEED
_VERSION: Final = 2
_CERTIFICATE: Final = 2
_PASSWORD: Final = "changeit"  # Java's own; what it protects is public


def trust_store(path: Path) -> Path | None:
    """Writes the store; None if Python has no list, so that Java keeps its own."""
    bundle = os.environ.get("PIP_CERT") or None
    found = ssl.create_default_context(cafile=bundle).get_ca_certs(binary_form=True)
    if not found:
        return None
    entries = b"".join(_entry(number, each) for number, each in enumerate(found))
    data = struct.pack(">III", _MAGIC, _VERSION, len(found)) + entries
    salted = _PASSWORD.encode("utf-16-be") + b"Mighty Aphrodite" + data
    path.write_bytes(data + sha1(salted).digest())
    return path


def _entry(number: int, certificate: bytes) -> bytes:
    when = 0
    return b"".join(
        (
            struct.pack(">I", _CERTIFICATE),
            _text(str(number)),
            struct.pack(">Q", when),
            _text("X.509"),
            struct.pack(">I", len(certificate)),
            certificate,
        )
    )


def _text(text: str) -> bytes:
    return struct.pack(">H", len(text)) + text.encode("ascii")
