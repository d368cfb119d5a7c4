from __future__ import annotations

import asyncio
import functools
import gc
import itertools
import sys
import textwrap
from collections.abc import Callable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from profkit.measuring.worker.child import perform
from profkit.measuring.worker.runnable import Namespace, calls, nothing, run_global_setup, statement
from tests.support.worker_jobs import case, timer_job

LEVELS = ("function", "module")
both_levels = pytest.mark.parametrize("level", LEVELS)


def run(
    stmt: str, setup: str = "", global_setup: str = "", level: str = "function", number: int = 1
) -> Namespace:
    """Run one block; the global names afterwards."""
    namespace: Namespace = {}
    futures = run_global_setup(global_setup, namespace)
    statement(stmt, setup, namespace, level, futures).run(number, lambda: None)
    return namespace


@both_levels
def test_the_setup_runs_once_and_the_statement_as_often_as_asked(level: str) -> None:
    namespace: Namespace = {"ran": (ran := [])}
    measured = statement("ran.append('stmt')", "ran.append('setup')", namespace, level)
    assert ran == ["setup"]
    marks: list[int] = []
    for number in (3, 0, 1):
        measured.run(number, lambda: marks.append(len(ran)))
    assert ran == ["setup"] + ["stmt"] * 4
    assert marks == [1, 4, 4, 4, 4, 5]


@both_levels
def test_names_of_the_setup_live_on_from_block_to_block(level: str) -> None:
    namespace: Namespace = {"seen": (seen := [])}
    measured = statement("total += step; seen.append(total)", "total, step = 0, 2", namespace, level)
    measured.run(2, lambda: None)
    measured.run(1, lambda: None)
    assert seen == [2, 4, 6]


def test_names_of_a_function_are_local_and_those_of_a_module_are_not() -> None:
    assert "x" not in run("x += 1", "x = 1")
    assert run("x += 1", "x = 1", level="module", number=3)["x"] == 4
    assert run("seen.append(x)", "x = 2", "x = 1; seen = []")["seen"] == [2]


def test_a_global_setup_holds_for_functions_and_classes_of_the_setup() -> None:
    setup = "def f(n):\n    return 1 if n < 2 else n * f(n - 1)\nclass C:\n    x = base"
    assert run("seen.append((f(5), C.x))", setup, "base = 7; seen = []")["seen"] == [(120, 7)]


@both_levels
def test_stars_belong_into_a_global_setup(level: str) -> None:
    assert run("seen.append(sqrt(4))", "", "from math import *; seen = []", level)["seen"] == [2]
    with pytest.raises(SyntaxError, match="move it to global_setup") as caught:
        run("pass", "x = 1\nfrom math import *")
    assert (caught.value.filename, caught.value.lineno) == ("<setup>", 2)


@both_levels
@pytest.mark.parametrize("text", ["", "\n", "# nothing", "   # nothing\n", "pass", "'a string'"])
def test_texts_may_say_nothing(text: str, level: str) -> None:
    run(text, text, text, level)


@both_levels
@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("return 1", 1),
        ("x = 1\nyield x", 2),
        ("\nawait x", 2),
        ("break", 1),
        ("if True:\n    continue", 2),
        ("nonlocal x", 1),
        ("x = (", 1),
        ("    x = 1\n    y = )", 2),
        ("  x = 1\ny = 2", 2),
        ("  if x:\n    pass\nelse:\n  pass", 4),
        ("def f():\n    return 1\n  x = 2", 3),
    ],
)
@pytest.mark.parametrize("place", ["stmt", "setup", "global_setup"])
def test_what_is_no_python_by_itself_is_refused_in_the_users_own_words(
    text: str, line: int, place: str, level: str
) -> None:
    with pytest.raises(SyntaxError) as caught:
        run(**{"stmt": "pass", "level": level, place: text})
    error = caught.value
    assert (error.filename, error.lineno) == (f"<{place}>", line)
    assert (error.text or "").rstrip("\n") == text.split("\n")[line - 1]


def test_errors_that_only_both_texts_together_have_speak_of_their_own_text() -> None:
    with pytest.raises(SyntaxError, match="'x' is assigned to before global") as caught:
        run("y = 2\nglobal x", "x = 1\nz = 2")
    assert (caught.value.filename, caught.value.lineno, caught.value.text) == ("<stmt>", 2, "global x\n")


def test_features_from_future_hold_and_profkits_own_do_not() -> None:
    text = "def f(x: y): pass\nseen.append(f.__annotations__)"
    assert run(text, "", "from __future__ import annotations; seen = []")["seen"] == [{"x": "y"}]
    assert run(text, "from __future__ import annotations", "seen = []", "module")["seen"] == [{"x": "y"}]
    assert run("pass", "from __future__ import annotations\n" + text, "seen = []")["seen"] == [{"x": "y"}]
    with pytest.raises(NameError):
        run(text, "", "seen = []")


@given(
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="'\\\r\0"), max_size=30),
    st.integers(0, 9),
)
def test_strings_over_several_lines_keep_their_text(content: str, indent: int) -> None:
    source = f"x = '''{content}'''\nseen.append(x)"
    first, rest = source.split("'''", 1)
    text = (
        " " * indent + first + "'''" + rest.rpartition("'''")[0] + "'''\n" + " " * indent + "seen.append(x)"
    )
    for level in LEVELS:
        assert run(text, text, "seen = []", level)["seen"] == [content] * 2


steps = st.sampled_from(
    [
        "a = b + 1",
        "b = a * 2 % 1009",
        "a, b = b, a",
        "if a > b:\n    c = a\nelse:\n    c = b",
        "for i in range(3):\n    if i == b % 3: continue\n    c += i",
        "try:\n    c //= a - a\nexcept ZeroDivisionError as e:\n    c += 1",
        "d = [c + i for i in range(2)]; b += sum(d)",
        "a = (lambda n: n + b)(a) % 1013",
        "while c > 50:\n    c -= 7\nelse:\n    c += 1",
        "def f():\n    return a + b\nc = f()",
    ]
)


@given(st.lists(steps, max_size=5), st.lists(steps, max_size=5), st.integers(0, 4), st.booleans())
def test_blocks_do_what_the_texts_say(setup: list[str], stmt: list[str], number: int, indented: bool) -> None:
    first = "\n".join(["a, b, c, d = 1, 2, 3, None", *setup])
    second = "\n".join([*stmt, "seen.append((a, b, c, d))"])
    plain: Namespace = {"seen": []}
    exec(first, plain)
    for _ in range(number):
        exec(second, plain)
    texts = [textwrap.indent(text, "\t") if indented else text for text in (first, second)]
    for level in LEVELS:
        assert run(texts[1], texts[0], "seen = []", level, number)["seen"] == plain["seen"]


def ticks() -> Callable[[], int]:
    return functools.partial(next, itertools.count())


names = st.text(min_size=1, max_size=6)


@given(
    st.lists(st.integers(), max_size=4), st.dictionaries(names, st.integers(), max_size=4), st.integers(0, 3)
)
@example([], {"ﬁ": 1, "class": 2, "a b": 3, "x": 4}, 1)
def test_a_callable_gets_its_arguments_as_often_as_asked(
    args: list[int], kwargs: dict[str, int], number: int
) -> None:
    seen: list[object] = []
    measured = calls(lambda *a, **k: seen.append((a, k)), tuple(args), kwargs)
    assert measured.run(number, ticks()) == (0, 1)
    assert seen == [(tuple(args), kwargs)] * number


def test_a_coroutine_function_runs_in_a_fresh_loop_for_each_block() -> None:
    loops: list[object] = []

    async def f(x: int, *, y: int) -> None:
        await asyncio.sleep(0)
        loops.append((asyncio.get_running_loop(), x + y))

    class Calls:
        async def __call__(self, x: int, y: int) -> None:
            await f(x, y=y)

    for function in (f, functools.partial(f, y=2), Calls()):
        loops.clear()
        measured = calls(function, (1,), {"y": 2})
        inside = {*measured.run(2, asyncio.get_running_loop), *measured.run(1, asyncio.get_running_loop)}
        assert inside == {loop for loop, _ in loops}
        first, second, third = (loop for loop, _ in loops)
        assert first is second is not third
        assert {value for _, value in loops} == {3}


def test_what_a_callable_raises_comes_out() -> None:
    def fail() -> None:
        raise LookupError("mine")

    async def also() -> None:
        fail()

    for function in (fail, also):
        with pytest.raises(LookupError, match="mine"):
            calls(function, (), {}).run(1, ticks())


@pytest.mark.parametrize("level", ["function", "module"])
def test_nothing_takes_two_probes(level: str) -> None:
    assert nothing({}, level).run(1000, ticks()) == (0, 1)


def test_the_collector_is_off_unless_the_setup_wants_it_and_as_before_afterwards() -> None:
    from profkit.measuring.worker import child

    seen: list[bool] = []
    child.seen_by_test = seen  # type: ignore[attr-defined]
    setup = "import gc\nfrom profkit.measuring.worker.child import seen_by_test as seen\n"
    assert gc.isenabled()
    perform(timer_job(case("seen.append(gc.isenabled())", setup), runs=1))
    perform(timer_job(case("seen.append(gc.isenabled())", setup + "gc.enable()"), runs=1))
    assert seen == [False, True]
    assert gc.isenabled()
    with pytest.raises(ZeroDivisionError):
        perform(timer_job(case("1/0")))
    assert gc.isenabled()
    del child.seen_by_test  # type: ignore[attr-defined]


def test_classes_of_a_global_setup_can_be_pickled_and_main_is_given_back() -> None:
    main = sys.modules["__main__"]
    text = "import pickle\nclass C: pass"
    perform(timer_job(case("assert type(pickle.loads(pickle.dumps(C()))) is C", "", text), runs=1))
    assert sys.modules["__main__"] is main


def test_a_canary_shows_versions() -> None:
    answer = perform({"mode": "canary", "imports": ["hypothesis", "json"]})
    assert answer["ok"]
    assert set(answer["versions"]) == {"hypothesis", "json"}
    assert answer["versions"]["hypothesis"].count(".") >= 1
    with pytest.raises(ModuleNotFoundError, match="no_such_module_of_mine"):
        perform({"mode": "canary", "imports": ["no_such_module_of_mine"]})


def test_real_blocks_show_a_statement_from_one_twice_as_long() -> None:
    cases = [case("sum(numbers)", f"numbers = range({length})") for length in (2_000, 20_000)]
    short, long = perform(timer_job(*cases, blocks=10, block_s=0.001))["cases"]
    assert 5 < min(long["times_s"]) / min(short["times_s"]) < 20
    assert short["number"] > long["number"]
    assert short["wall_s"] >= sum(short["times_s"]) * short["number"]
