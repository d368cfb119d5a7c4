"""Sessions for every supported Python: `nox` runs tests, types and docs.

`nox -s neighbours` runs the tests with other libraries, `nox -s benchmarks` the benchmarks.
"""

from __future__ import annotations

import nox

FIRST_PYTHON = "3.11"
PYTHONS = [FIRST_PYTHON, "3.12", "3.13", "3.14", "3.15"]
CONSTRAINTS = ("-c", "constraints.txt")

nox.options.sessions = ["tests", "types", "docs"]


@nox.session(python=PYTHONS)
def tests(session: nox.Session) -> None:
    """Run the whole suite; arguments go to pytest."""
    session.install(*CONSTRAINTS, "-e", ".[test]")
    session.run("bash", "tests/programs.sh", external=True)
    session.run("python", "-m", "pytest", *session.posargs)


@nox.session(python=PYTHONS)
def neighbours(session: nox.Session) -> None:
    """Run tests with gevent, web servers, numba and others; arguments go to pytest."""
    session.install(*CONSTRAINTS, "-e", ".[test,neighbours]")
    session.run("python", "-m", "pytest", "-m", "neighbours", *session.posargs)


@nox.session(python=PYTHONS)
def types(session: nox.Session) -> None:
    """Run Ruff, its formatter and mypy --strict; the types of public names with pyright, too."""
    session.install(*CONSTRAINTS, "-e", ".[test,neighbours,dev,benchmark]")
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")
    session.run("mypy")
    session.run("mypy", "--strict", "tests/types")
    session.run("pyright")


@nox.session(python=FIRST_PYTHON)
def docs(session: nox.Session) -> None:
    """Run every example and every code block of the docs, and build the site."""
    session.install(*CONSTRAINTS, "-e", ".[test,docs]")
    session.run("python", "-m", "pytest", "tests/docs", *session.posargs)
    session.run("python", "docs/build.py")


@nox.session(python=FIRST_PYTHON)
def benchmarks(session: nox.Session) -> None:
    """Print the tables of benchmarks/sampling.py, measuring.py, pool.py and reporting.py."""
    session.install(*CONSTRAINTS, "-e", ".[benchmark]")
    session.run("python", "-m", "benchmarks.sampling", *session.posargs)
    session.run("python", "-m", "benchmarks.measuring", *session.posargs)
    session.run("python", "-m", "benchmarks.pool", *session.posargs)
    session.run("python", "-m", "benchmarks.reporting", *session.posargs)
