"""Job messages as drivers send them, with what a test leaves out filled in."""

from __future__ import annotations

from profkit.measuring.worker.protocol import Message


def case(stmt: str | None, setup: str = "", global_setup: str = "", **others: object) -> Message:
    usual = {"language": "python", "level": "function", "payload": False, "library": None}
    return {"stmt": stmt, "setup": setup, "global_setup": global_setup, **usual, **others}


def timer_job(*cases: Message, **others: object) -> Message:
    """Short blocks and few: what is tested is never how long they take."""
    usual = {"number": [None] * len(cases), "blocks": 3, "block_s": 0.0001, "min_run_time_s": 0.001}
    return {"mode": "timer", "num_threads": 1, "cases": [*cases], "runs": None, "seed": 1, **usual, **others}


def callgrind_job(*cases: Message, **others: object) -> Message:
    usual = {"number": [None] * len(cases), "repeats": 2, "warm": 20, "runs": None}
    return {"mode": "callgrind", "num_threads": 1, "cases": [*cases], **usual, **others}
