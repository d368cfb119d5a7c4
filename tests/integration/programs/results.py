"""What a profiler says of its last call, and what calls do that find the session busy: `results.py SCENE`."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import signal
import sys
import threading
import time
from pathlib import Path

from spinning import spin

from profkit import FunctionProfiler, ProfkitError, profile

SAID: list[str] = []


def look(profiler: FunctionProfiler) -> dict[str, object]:
    """The two attributes that code written for PyTorch's own profiler looks at."""
    result, run_id = profiler.profile_result, profiler.current_run_id
    return {"result": result is not None, "id": run_id is not None, "lines": result}


def outcome(call, *arguments) -> str:
    try:
        return repr(call(*arguments))
    except (ProfkitError, LookupError, KeyboardInterrupt) as error:
        return f"{type(error).__name__}: {error}"


def fail() -> None:
    spin(0.05)
    raise LookupError("the user's own")


def interrupt() -> None:
    spin(0.05)
    raise KeyboardInterrupt("the user's own")


def kill_the_sampler() -> str:
    """From now on the sampler is dead, which shows at the next look."""
    manifests = [json.loads(path.read_text()) for path in Path(".profkit/spool").glob("*/manifest.json")]
    newest = max(manifests, key=lambda manifest: manifest["created_ns"])
    os.kill(newest["segments"][-1]["pid"], signal.SIGKILL)
    spin(0.05)
    return "ran"


def hold(holder: FunctionProfiler, during) -> None:
    """Do something while another thread is in a region with other options."""
    inside, done = threading.Event(), threading.Event()
    thread = threading.Thread(target=holder.profile, args=(lambda: (inside.set(), done.wait()),))
    thread.start()
    inside.wait()
    during(done)
    done.set()
    thread.join()


def last_call() -> dict[str, object]:
    profiler = FunctionProfiler(rate=200, on_busy="skip", sampler="pyspy")
    holder = FunctionProfiler(rate=150, sampler="pyspy")
    told: dict[str, object] = {"before": look(profiler)}
    told["works"] = outcome(profiler.profile, spin, 0.0), look(profiler)
    told["raises"] = outcome(profiler.profile, fail), look(profiler)
    told["interrupted"] = outcome(profiler.profile, interrupt), look(profiler)
    hold(holder, lambda _: told.update(skipped=(outcome(profiler.profile, abs, -3), look(profiler))))
    told["again"] = outcome(profiler.profile, abs, -4), look(profiler)
    told["dies"] = outcome(profiler.profile, kill_the_sampler), look(profiler)
    told["unsampled"] = outcome(profiler.profile, abs, -5), look(profiler)
    told["disabled"] = look(FunctionProfiler(enabled=False))
    return told


def without_a_sampler() -> dict[str, object]:
    ran: list[int] = []
    strict, mild = FunctionProfiler(stop_at_error=True, sampler="pyspy"), FunctionProfiler(sampler="pyspy")
    return {
        "mild": [outcome(mild.profile, ran.append, number) for number in (1, 2)] + [look(mild)],
        "strict": [outcome(strict.profile, ran.append, number) for number in (3, 4)] + [look(strict)],
        "decorated": outcome(profile(ran.append, stop_at_error=True, sampler="pyspy"), 5),
        "ran": ran,
    }


def busy() -> dict[str, object]:
    told: dict[str, object] = {}

    def during(done: threading.Event) -> None:
        share = FunctionProfiler(rate=200, label="share")
        told["share"] = outcome(share.profile, abs, -1)
        info = share.last_run.info
        told["shared"] = [info.plan.rate_hz, [note.code.value for note in info.notes]]
        skip = FunctionProfiler(rate=200, label="skip", on_busy="skip")
        told["skip"] = outcome(skip.profile, abs, -2), look(skip)
        refuse = FunctionProfiler(rate=200, label="refuse", on_busy="raise", stop_at_error=True)
        told["raise"] = outcome(refuse.profile, abs, -3), look(refuse)
        short = FunctionProfiler(rate=200, label="short", on_busy="wait", timeout_wait_for_running_sec=0.1)
        start = time.monotonic()
        told["short"] = outcome(short.profile, abs, -4), look(short), time.monotonic() - start >= 0.1
        patient = FunctionProfiler(rate=200, label="patient", on_busy="wait")
        waiting = threading.Thread(target=patient.profile, args=(lambda: spin(0.05),))
        waiting.start()
        time.sleep(0.05)
        done.set()
        waiting.join()
        told["patient"] = [patient.last_run.info.calls, patient.last_run.info.plan.rate_hz, look(patient)]

    hold(FunctionProfiler(rate=150, label="holder"), during)
    return told


def together() -> dict[str, object]:
    """One profiler used by threads, by itself, and for coroutines."""
    profiler = FunctionProfiler(rate=200, stop_at_error=True)
    values: list[int] = []
    threads = [
        threading.Thread(target=lambda number=number: values.append(profiler.profile(abs, -number)))
        for number in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    async def task(number: int) -> int:
        await asyncio.sleep(0.01)
        return number

    async def gathered() -> list[int]:
        return await asyncio.gather(*(profiler.profile(task, number) for number in range(5)))

    nested = profiler.profile(lambda: profiler.profile(lambda: profiler.profile(abs, -7)))
    tasks = asyncio.run(gathered())
    return {"values": sorted(values), "nested": nested, "tasks": tasks,
            "calls": profiler.last_run.info.calls}  # fmt: skip


if __name__ == "__main__":
    handler = logging.Handler()
    handler.emit = lambda record: SAID.append(record.getMessage())
    logging.getLogger("profkit").addHandler(handler)
    print(json.dumps(globals()[sys.argv[1]]() | {"said": SAID}))
