"""A region is its code: what counts as another version of it, and what does not."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from types import CodeType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from profkit.model.region import digest_of, digest_of_lines, frame_code_of

SOURCE = """
def work(items):
    total = 0
    for item in items:
        if item in {"a", "b", "c"}:
            total += len(item) * 2
    return [total for _ in range(2)]
"""


def code_of(source: str, file: str = "a.py") -> CodeType:
    scope: dict[str, Any] = {}
    exec(compile(source, file, "exec"), scope)
    code: CodeType = scope["work"].__code__
    return code


def test_place_does_not_count() -> None:
    elsewhere = "\n\n# a comment\n" + SOURCE.replace("total = 0", "total = 0  # here, too")
    assert digest_of(code_of(elsewhere, "b.py")) == digest_of(code_of(SOURCE))


@pytest.mark.parametrize(
    ("before", "after"),
    [("= 0", "= 1"), ("* 2", "+ 2"), ("len(", "hash("), ('"c"', '"d"'), ("range(2)", "range(3)"),
     ("(items)", "(items, *more)"), ("= 0", "= False"), ("= 0", "= 0.0")],
)  # fmt: skip
def test_what_the_code_does_counts(before: str, after: str) -> None:
    assert digest_of(code_of(SOURCE.replace(before, after))) != digest_of(code_of(SOURCE))


def test_the_hash_seed_does_not_count() -> None:
    program = f"from profkit.model.region import digest_of\nexec({SOURCE!r})\nprint(digest_of(work.__code__))"
    found = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={"PYTHONHASHSEED": str(seed)},
            capture_output=True,
            check=True,
        ).stdout
        for seed in range(3)
    }
    assert len(found) == 1


@given(st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(), st.binary()),
    lambda inner: st.one_of(st.tuples(inner, inner), st.frozensets(inner, max_size=3)),
))  # fmt: skip
def test_any_constant_has_a_digest(constant: object) -> None:
    code = code_of(SOURCE).replace(co_consts=(None, constant))
    assert digest_of(code) == digest_of(code.replace(co_filename="b.py", co_firstlineno=99))


BLOCKS = """
def work():
    first = open
    with first("x") as file:
        file.read(BODY)
    return first
"""


def body_digest(source: str) -> str:
    code = code_of(source)
    line = next(n for n, text in enumerate(source.splitlines(), 1) if "read" in text)
    return digest_of_lines(code, {line})


def test_a_block_is_its_body() -> None:
    same = BLOCKS.replace("first = open", "other, first = sorted, open").replace("return first", "return 3")
    assert body_digest(same) == body_digest(BLOCKS)
    assert body_digest(BLOCKS.replace("BODY", "3")) != body_digest(BLOCKS)


class Callable_:
    def __call__(self) -> None: ...


def plain() -> None: ...


@pytest.mark.parametrize(
    ("function", "has_frame"),
    [(plain, True), (Callable_(), True), (Callable_().__call__, True), (len, False), ([].append, False),
     (print, False), (lambda: None, True)],
    ids=["function", "object", "method", "builtin", "bound builtin", "print", "lambda"],
)  # fmt: skip
def test_which_callables_run_a_python_frame(function: Callable[..., object], has_frame: bool) -> None:
    assert (frame_code_of(function) is not None) is has_frame


def test_a_compiled_function_that_shows_its_code_runs_no_frame() -> None:
    class Dispatcher:
        """As numba's: it has the code of the function that it compiled."""

        __code__ = plain.__code__
        __call__ = print

    assert frame_code_of(Dispatcher()) is None
