"""A fresh process that unpacks payloads as workers do, and says what an expression says of them.

    python -I unpacking.py WORKER_FOLDER SYS_PATH_JSON

Each line on stdin is a JSON list: a payload's path, and an expression that knows `function`, `args` and
`kwargs`. Each answer is a line, too: its value, or the exception.
"""

import importlib
import importlib.util
import json
import os
import sys
from pathlib import Path

folder, path = sys.argv[1:]
place = Path(folder) / "__init__.py"
spec = importlib.util.spec_from_file_location("_profkit_worker", place, submodule_search_locations=[folder])
assert spec is not None
sys.modules["_profkit_worker"] = importlib.util.module_from_spec(spec)
sys.path[:] = json.loads(path)
unpack = importlib.import_module("_profkit_worker.unpack").unpack


def answer(payload: str, expression: str) -> object:
    fd = os.open(payload, os.O_RDONLY)
    function, args, kwargs = unpack(fd)
    os.close(fd)
    return eval(expression, {"function": function, "args": args, "kwargs": kwargs})


for line in sys.stdin:
    try:
        said = {"value": answer(*json.loads(line))}
    except Exception as error:  # noqa: BLE001 - told to who asked
        said = {"error": repr(error)}
    print(json.dumps(said), flush=True)
