"""Do the jobs whose messages stdin holds, in this process, as a worker does; say the answers, as JSON."""

from __future__ import annotations

import json
import sys

from profkit.measuring.worker.child import perform


def answer(message: dict[str, object]) -> dict[str, object]:
    try:
        return perform(message)
    except RuntimeError as error:
        return {"ok": False, "error": str(error)}


if __name__ == "__main__":
    print(json.dumps([answer(message) for message in json.load(sys.stdin)]))
