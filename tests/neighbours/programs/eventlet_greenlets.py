"""Green threads of eventlet in profiled functions: `eventlet_greenlets.py SCENE`."""

from __future__ import annotations

import warnings

warnings.simplefilter("ignore")

import eventlet  # noqa: E402

eventlet.monkey_patch()

import sys  # noqa: E402
import time  # noqa: E402

from colours import blue, green, red  # noqa: E402
from eventlet import wsgi  # noqa: E402

from profkit import profile  # noqa: E402

EXACT = {"rate": 100.0, "blocking": True}


@profile(label="red", **EXACT)
def first(rounds: int) -> int:
    for _ in range(rounds):
        red(0.005)
        time.sleep(0)
    return rounds


@profile(label="green", **EXACT)
def second(rounds: int) -> int:
    for _ in range(rounds):
        green(0.005)
        time.sleep(0)
    return rounds


def plain(rounds: int) -> int:
    for _ in range(rounds):
        blue(0.005)
        time.sleep(0)
    return rounds


def overlapping() -> None:
    pool = eventlet.GreenPool()
    jobs = [pool.spawn(work, 20) for _ in range(4) for work in (first, second)]
    jobs.append(pool.spawn(plain, 40))
    print([job.wait() for job in jobs])


def children() -> None:
    import subprocess

    print(first(1))
    done = subprocess.run([sys.executable, "-c", "print(5)"], capture_output=True, text=True, check=True)
    print(done.stdout.strip(), first(1))


def sockets() -> None:
    """A WSGI server and its clients in one thread."""
    import http.client

    @profile(label="request", **EXACT)
    def application(environ, start_response):
        red(0.005)
        eventlet.sleep(0.01)
        start_response("200 OK", [("Content-Type", "text/plain")])
        return [environ["PATH_INFO"].encode()]

    listener = eventlet.listen(("127.0.0.1", 0))
    port = listener.getsockname()[1]
    serving = eventlet.spawn(wsgi.server, listener, application, log_output=False)

    def ask(number: int) -> str:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
        connection.request("GET", f"/{number}")
        text = connection.getresponse().read().decode()
        connection.close()
        return text

    print(list(eventlet.GreenPool(8).imap(ask, range(40))))
    serving.kill()


if __name__ == "__main__":
    globals()[sys.argv[1]]()
