"""Jobs that a zygote does before it serves, so that Callgrind has translated what every job runs through.

They use of torch and numpy what is imported already, and never so much that a library starts threads.
"""

from __future__ import annotations

from .asked import UNDECIDED, Arm, Job


def _arm(stmt: str, setup: str = "", level: str = "function", global_setup: str = "") -> Arm:
    return {
        "stmt": stmt,
        "setup": setup,
        "global_setup": global_setup,
        "language": "python",
        "level": level,
        "parcel": False,
        "library": None,
        "fresh": UNDECIDED,
    }


def _job(arm: Arm) -> Job:
    return {
        "mode": "callgrind",
        "num_threads": 1,
        "arms": [arm],
        "number": [2],
        "runs": None,
        "repeats": 2,
        "warm": 20,
    }


_IMPORTED = """
import sys
torch, numpy = sys.modules.get("torch"), sys.modules.get("numpy")
"""
_TORCH = "x = y = torch.ones(64) if torch else 1"
_NUMPY = "a = numpy.ones(64) if numpy else 1"
_OWN = """
    class Point:
        def __init__(self, x):
            self.x = x
    def f(x, *, y=1):
        return [Point(x), y]
"""

JOBS: tuple[Job, ...] = (
    _job(_arm("[i * i for i in range(100)]")),
    _job(_arm("s.split()", "s = 'a few words in a string'")),
    _job(_arm("items.sort()", "items = [3, 1, 2] * 20")),
    _job(_arm("{str(i): (i, float(i)) for i in range(50)}")),
    _job(_arm("f(2, y=3)", _OWN)),
    _job(_arm("x + y", _TORCH, global_setup=_IMPORTED)),
    _job(_arm("a + a", _NUMPY, global_setup=_IMPORTED)),
    _job(_arm("x + y", _TORCH, "module", _IMPORTED)),
)
"""Messages without what a zygote fills in: `dump_prefix` and surroundings."""
