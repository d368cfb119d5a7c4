"""What a profiled program sees of its own processes: `children.py SCENARIO`."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time

from spinning import spin

from profkit import profile, profiled

OS_THREADS: list[int] = []


def child(code: int, lives_s: float = 0.0) -> int:
    """Fork a child that ends with a code after a while."""
    pid = os.fork()
    if pid == 0:
        time.sleep(lives_s)
        os._exit(code)
    return pid


def wait_for_all() -> list[int]:
    """Exit codes of all children, as a supervisor collects them."""
    codes = []
    while True:
        try:
            _, status = os.wait()
        except ChildProcessError:
            return sorted(codes)
        codes.append(os.waitstatus_to_exitcode(status))


@profile(rate=200, label="region")
def wait_loop() -> None:
    spin(0.1)
    print("with those before:", wait_for_all())
    for code in (4, 5):
        child(code, lives_s=0.05)
    print("with those inside:", wait_for_all())


def wait() -> None:
    """`os.wait()` until there is no child left, for children of before and of inside the region."""
    for code in (1, 2, 3):
        child(code, lives_s=0.02 * code)
    wait_loop()
    child(6)
    print("afterwards:", wait_for_all())


@profile(rate=200, label="region")
def waitpid() -> None:
    """`waitpid(-1)` tells of no strangers, while the sampler starts, runs and stops."""
    spin(0.05)
    for options in (0, os.WNOHANG):
        try:
            print(os.waitpid(-1, options))
        except ChildProcessError:
            print("no children")
    pid = child(9, lives_s=0.2)
    print(os.waitpid(-1, os.WNOHANG))
    with profiled("another"):
        print(os.waitpid(-1, 0)[0] == pid)


def count_threads() -> None:
    """What CPython counts before it warns that a process with several threads forks."""
    OS_THREADS.append(len(os.listdir("/proc/self/task")))


os.register_at_fork(before=count_threads)  # of these the last to be registered runs first: profkit's


@profile(rate=200, label="region")
def forks() -> None:
    """A program with one thread has one whenever it forks, and its children may call what is profiled."""
    for number in range(40):
        spin(0.002)
        pid = os.fork()
        if pid == 0:
            inner(number)
            sys.exit(number)
        os.waitpid(pid, 0)
    print("threads at each fork:", sorted(set(OS_THREADS)))
    others = {thread.name for thread in threading.enumerate()}
    print("threads now:", others)


@profile(rate=200, label="inner")
def inner(number: int) -> None:
    if number % 10 == 0:
        print("child", number, flush=True)


def popen() -> None:
    """Programs that a region starts, with pipes, a preexec_fn and a code of their own."""
    said = """import sys; print(sys.stdin.read().upper()); sys.exit(3)"""

    @profile(rate=200, label="region")
    def region() -> None:
        spin(0.05)
        for extra in ({}, {"preexec_fn": os.setpgrp}, {"start_new_session": True}):
            done = subprocess.run([sys.executable, "-S", "-c", said], input="hello", text=True, check=False,
                                  capture_output=True, **extra)  # fmt: skip
            print(done.returncode, done.stdout.strip(), done.stderr)

    region()


@profile(rate=200, label="region")
def fork_in_a_region() -> None:
    """Parent and child both leave the region, and both run what they had registered for the exit."""
    import atexit

    atexit.register(lambda: print("exit of", who, flush=True))
    spin(0.1)
    who = "child" if os.fork() == 0 else "parent"
    if who == "parent":
        print("child ended with", wait_for_all(), flush=True)
    else:
        spin(0.01)
        print("in the child", flush=True)
    if who == "child":
        sys.exit(8)


SCENARIOS = {function.__name__: function for function in (wait, waitpid, forks, popen, fork_in_a_region)}

if __name__ == "__main__":
    SCENARIOS[sys.argv[1]]()
