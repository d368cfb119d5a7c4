"""A service that waits for a signal to stop, while a thread spins instead of waiting for work."""

import threading

from benchmarks.answers import truth

stopping = threading.Event()
jobs: list[str] = []


def poll() -> int:  # PLANTED
    polls = 0
    while not stopping.is_set():
        polls += 1
        if jobs:
            print("job:", jobs.pop())
    return polls


def run_poller() -> None:
    with truth.planted:
        poll()
    truth.threads()


poller = threading.Thread(target=run_poller, name="poller")
poller.start()
with truth.also:
    stopping.wait(truth.SECONDS)  # ALSO
stopping.set()
poller.join()
