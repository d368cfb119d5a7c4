"""Ways in which a profiled program ends: `endings.py SCENARIO`."""

from __future__ import annotations

import atexit
import faulthandler
import os
import signal
import subprocess
import sys
import threading
import time

from spinning import spin

from profkit import profile, profiled


@profile(rate=200, label="region")
def region(work, *args):
    spin(0.1)
    return work(*args)


def falls_off() -> None:
    region(print, "done")


def os_exit() -> None:
    atexit.register(print, "never printed")
    region(os._exit, 7)


def sys_exit_number() -> None:
    region(sys.exit, 5)


def sys_exit_text() -> None:
    region(sys.exit, "text goes to stderr")


def sys_exit_from_a_generator() -> None:
    @profile(rate=200, label="region")
    def numbers():
        spin(0.1)
        yield 1
        sys.exit(6)

    print(list(numbers()))


def exec_program() -> None:
    print("before", flush=True)
    region(os.execv, "/bin/sh", ["sh", "-c", "sleep 0.1; echo after; exit 4"])


def exec_python() -> None:
    """The program that takes this one's place is profiled too."""
    print("before", flush=True)
    region(os.execv, sys.executable, [sys.executable, __file__, "falls_off"])


def unhandled() -> None:
    def fail():
        raise LookupError("not found")

    def chain():
        try:
            region(fail)
        except LookupError as error:
            raise RuntimeError("while looking") from error

    region(chain)


def unhandled_async() -> None:
    import asyncio

    @profile(rate=200, label="region")
    async def fail():
        await asyncio.sleep(0.05)
        raise LookupError("not found")

    @profile(rate=200, label="stream")
    async def stream():
        yield 1
        await fail()

    async def main():
        async for number in stream():
            print(number, flush=True)

    asyncio.run(main())


def unhandled_in_a_thread() -> None:
    thread = threading.Thread(target=region, args=(divmod, 1, 0), name="T")
    thread.start()
    thread.join()
    print("goes on")


def unhandled_hook() -> None:
    sys.excepthook = lambda kind, error, trace: print("hook:", kind.__name__, error)
    region(divmod, 1, 0)


def interrupt() -> None:
    """Ctrl-C, as a terminal sends it, in a region that waits."""
    region(interrupted, "")


def interrupt_twice() -> None:
    """A second Ctrl-C while the program ends: such a slow sampler takes a tenth of a second to stop."""
    profile(rate=20, label="slow")(interrupted)("time.sleep(0.04); os.killpg(0, 2)")


def interrupted(more: str) -> None:
    """Wait for a SIGINT to the whole process group, sent by a process that does not mind."""
    sender = f"signal.signal(2, signal.SIG_IGN); time.sleep(0.1); os.killpg(0, 2); {more}"
    subprocess.Popen([sys.executable, "-S", "-c", f"import os, signal, time; {sender}"])
    time.sleep(60)


def terminate() -> None:
    print("before", flush=True)
    region(os.kill, os.getpid(), signal.SIGTERM)


def abort() -> None:
    faulthandler.disable()
    region(os.abort)


def daemons() -> None:
    """Daemon threads are in regions, and call others, while the interpreter ends."""

    def work():
        while True:
            region(time.sleep, 0.01)
            with profiled("in a daemon", rate=200):
                time.sleep(0.001)

    for _ in range(4):
        threading.Thread(target=work, daemon=True).start()
    region(print, "main is done")


def threads_outlive_main() -> None:
    """Threads that are no daemons work after the main thread has ended, until the exit."""

    def work():
        for _ in range(3):
            region(time.sleep, 0.02)
        print("thread is done")

    threading.Thread(target=work).start()
    print("main is done", flush=True)


def exit_handlers() -> None:
    """Exit handlers call what is profiled, those from before the first profiled call too."""
    atexit.register(lambda: region(print, "registered first"))
    with profiled("block", rate=200):
        spin(0.05)
    atexit.register(lambda: region(print, "registered last"))
    atexit.register(lambda: print("block", profiled("at exit").__enter__().__exit__(None, None, None)))


def finalizers() -> None:
    """Objects whose end calls what is profiled; some end with the interpreter, some in a collection."""

    class Resource:
        def __init__(self, name):
            self.name, self.me = name, self

        def __del__(self, region=region, print=print):
            region(print, "closed", self.name)

    for number in range(3):
        Resource(number)
    region(__import__("gc").collect)
    kept.append(Resource("kept"))


kept: list[object] = []


def stdout_is_gone() -> None:
    """A reader that goes away, as `| head -1` does."""
    reader, writer = os.pipe()
    os.dup2(writer, 1)
    os.close(reader)
    os.close(writer)
    region(lambda: print("nobody reads this", flush=True))


SCENARIOS = {
    function.__name__: function
    for function in (
        falls_off, os_exit, sys_exit_number, sys_exit_text, sys_exit_from_a_generator, exec_program,
        exec_python, unhandled, unhandled_async, unhandled_in_a_thread, unhandled_hook, interrupt,
        interrupt_twice, terminate, abort, daemons, threads_outlive_main, exit_handlers, finalizers,
        stdout_is_gone,
    )
}  # fmt: skip

if __name__ == "__main__":
    SCENARIOS[sys.argv[1]]()
