"""An object store on this machine, for places by URI."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import quote

import boto3
from moto.core.authorization import enable_iam_authentication
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


@contextmanager
def as_guest(uri: str) -> Iterator[str]:
    """The same bucket for somebody who may read and not write; the others get nothing meanwhile."""
    (where,) = re.findall(r"endpoint_override=(\S+)", uri)
    client = boto3.client(
        "iam",
        endpoint_url=f"http://{where}",
        region_name="us-east-1",
        aws_access_key_id="user",
        aws_secret_access_key="secret",
    )
    client.create_user(UserName="guest")
    key = client.create_access_key(UserName="guest")["AccessKey"]
    allowed = {"Effect": "Allow", "Action": ["s3:ListBucket", "s3:GetObject"], "Resource": "*"}
    policy = json.dumps({"Version": "2012-10-17", "Statement": [allowed]})
    client.put_user_policy(UserName="guest", PolicyName="reads", PolicyDocument=policy)
    name, secret = key["AccessKeyId"], quote(key["SecretAccessKey"], safe="")
    with enable_iam_authentication():
        yield uri.replace("user:secret@", f"{name}:{secret}@")
