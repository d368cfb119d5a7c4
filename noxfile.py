"""Sessions for every supported Python: `nox` runs tests, types and docs; `nox -s benchmarks` measures."""

from __future__ import annotations

import nox

PYTHONS = ["3.11", "3.12", "3.13"]
CONSTRAINTS = ("-c", "constraints.txt")

nox.options.sessions = ["tests", "types", "docs"]


@nox.session(python=PYTHONS)
def tests(session: nox.Session) -> None:
    """The whole suite; arguments go to pytest."""
    session.install(*CONSTRAINTS, "-e", ".[test]")
    session.run("bash", "tests/programs.sh", external=True)
    session.run("python", "-m", "pytest", *session.posargs)


@nox.session(python=PYTHONS)
def types(session: nox.Session) -> None:
    """Ruff, its formatter and mypy --strict."""
    session.install(*CONSTRAINTS, "-e", ".[test,dev]")
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")
    session.run("mypy")


@nox.session(python=PYTHONS[0])
def docs(session: nox.Session) -> None:
    """Every example and every code block of the docs."""
    session.install(*CONSTRAINTS, "-e", ".[test]")
    session.run("python", "-m", "pytest", "tests/docs", *session.posargs)


@nox.session(python=PYTHONS[0])
def benchmarks(session: nox.Session) -> None:
    """The tables of benchmarks/sampling.py, measuring.py and reporting.py."""
    session.install(*CONSTRAINTS, "-e", ".[benchmark]")
    session.run("python", "-m", "benchmarks.sampling", *session.posargs)
    session.run("python", "-m", "benchmarks.measuring", *session.posargs)
    session.run("python", "-m", "benchmarks.reporting", *session.posargs)
