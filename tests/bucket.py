"""An object store on this machine, for places by URI."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import boto3
from moto.server import ThreadedMotoServer


@contextmanager
def serving() -> Iterator[str]:
    """The URI of a bucket, with all that is needed to open it."""
    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    client = boto3.client(
        "s3",
        endpoint_url=f"http://{host}:{port}",
        region_name="us-east-1",
        aws_access_key_id="user",
        aws_secret_access_key="secret",
    )
    client.create_bucket(Bucket="bucket")
    yield f"s3://user:secret@bucket?scheme=http&region=us-east-1&endpoint_override={host}:{port}"
    server.stop()
