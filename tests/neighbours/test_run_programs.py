"""Programs of other projects under `profkit run`: output, exit code and open files as without it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.integration.harness import await_samplers_end
from tests.integration.real_programs import PROFKIT_RUN, Seen, run, serve

pytestmark = [pytest.mark.neighbours, pytest.mark.sampler]

FILES = {
    "spread.py": "def f( a,b ):\n  return {'a':a,\n     'b':b}\n" * 50,
    "broken.py": "def f(:\n",
    "web.py": (
        "import flask\napp = flask.Flask('web')\n@app.get('/rows/<int:number>')\n"
        "def rows(number):\n    return {'rows': [n * n for n in range(number)]}\n"
        "@app.get('/broken')\ndef broken():\n    raise LookupError('no rows')\n"
    ),
    "asking.py": (
        "import logging, web\nlogging.disable()\nclient = web.app.test_client()\n"
        "for path in ('/rows/9', '/broken', '/missing'):\n"
        "    for _ in range(20): answer = client.get(path)\n"
        "    print(path, answer.status, answer.get_data())\n"
    ),
    "cells.ipy": (
        "words = !echo from a shell\nprint(words, type(get_ipython()).__name__)\n"
        "%timeit -n1 -r1 pass\n1 / 0\n"
    ),
}
PROGRAMS = {
    "black": ["-m", "black", "--diff", "."],
    "black with several processes": ["-m", "black", "--check", "--workers", "2", "."],
    "Flask": ["asking.py"],
    "IPython": ["-m", "IPython", "--no-banner", "--colors=nocolor", "cells.ipy"],
    "IPython's options": ["-m", "IPython", "--no-banner", "--colors=nocolor", "-c", "%pylab?"],
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = tmp_path / "place"
    place.mkdir()
    for name, text in FILES.items():
        (place / name).write_text(text)
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    monkeypatch.setenv("BLACK_CACHE_DIR", str(tmp_path / "black"))
    return place


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_does_the_same(folder: Path, name: str) -> None:
    run(folder, (), PROGRAMS[name])  # fills its caches
    plain = run(folder, (), PROGRAMS[name])
    assert plain[-1]
    profiled = run(folder, PROFKIT_RUN, PROGRAMS[name])
    if name.startswith("black"):  # it says what its workers have done in the order in which they end
        plain, profiled = by_line(plain), by_line(profiled)
    assert profiled == plain
    await_samplers_end(folder)


def by_line(seen: Seen) -> Seen:
    """Return what a program did, with the lines of its output sorted."""
    stdout, stderr, *others = seen
    return "\n".join(sorted(stdout.splitlines())), "\n".join(sorted(stderr.splitlines())), *others


def test_ctrl_c_ends_flask_as_it_does_alone(folder: Path) -> None:
    command = ["-m", "flask", "--app", "web", "run", "--port", "0"]
    answer = '{"rows":[0,1,4]}\n'
    plain, profiled = (serve(folder, [*before, *command], "rows/3", answer) for before in ((), PROFKIT_RUN))
    assert profiled[0].splitlines() == plain[0].splitlines()
    assert profiled[1] == plain[1]
    await_samplers_end(folder)
