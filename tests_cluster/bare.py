"""bare.py ADDRESS NAME=SETTING ...: a cluster of which a worker has no Fyke, before and after.

Prints what the doctor says, what the first call says, and what is found with the package shipped.
"""

from __future__ import annotations

import json
import sys

import fyke.spark
from fyke.errors import FykeError
from fyke.spark.sessions.doctor import examine
from tests_cluster.calls import ways

if __name__ == "__main__":
    address, *settings = sys.argv[1:]
    conf = dict(each.split("=", 1) for each in settings)
    session = fyke.spark.session(master=address, conf=conf, logs="off")
    found: dict[str, object] = {"advice": examine(session).advice}
    call = ways(session)["matcher"]
    try:
        found["refused"] = call()
    except FykeError as error:
        found["refused"] = str(error)
    fyke.spark.session(master=address, ship=True)
    found["matcher"] = call()
    found["advice shipped"] = examine(session).advice
    print(json.dumps(found))
    session.stop()
