from __future__ import annotations

import traceback

import pytest

from profkit.measuring.worker.child import perform
from profkit.measuring.worker.runnable import calls
from profkit.measuring.worker.source import trace_of
from tests.support.worker_jobs import case, timer_job


def trace(*cases: dict[str, object]) -> str:
    """What the user reads of a job that raises."""
    with pytest.raises(BaseException) as caught:  # noqa: PT011 - whatever a test makes them raise
        perform(timer_job(*cases))
    text = trace_of(caught.value)
    assert "measuring/worker" not in text
    return text


def without_marks(text: str) -> str:
    """A traceback without the marks below its lines, which differ between versions of Python."""
    return "".join(line for line in text.splitlines(keepends=True) if line.strip(" ~^\n") or not line.strip())


def test_lines_are_the_users_own() -> None:
    setup = "def f(x):\n    y = x - 3\n    return 1 / y"
    text = trace(case("a = 1\nb = f(a + 2)", setup))
    assert "           ~~^~~\n" in text
    assert without_marks(text).splitlines() == [
        "Traceback (most recent call last):",
        '  File "<stmt>", line 2, in <module>',
        "    b = f(a + 2)",
        '  File "<setup>", line 3, in f',
        "    return 1 / y",
        "ZeroDivisionError: division by zero",
    ]


@pytest.mark.parametrize("level", ["function", "module"])
def test_each_text_has_its_name(level: str) -> None:
    for stmt, setup, global_setup, name in [
        ("pass\n1/0", "\n\n", "", "<stmt>"),
        ("pass", "pass\n1/0", "", "<setup>"),
        ("pass", "pass", "\n1/0", "<global_setup>"),
    ]:
        text = trace(case(stmt, setup, global_setup, level=level))
        assert f'File "{name}", line 2, in <module>\n    1/0\n' in text


def test_several_cases_are_distinguished() -> None:
    assert 'File "<stmt 2>", line 1' in trace(case("pass", "x = 1"), case("1/0", "x = 1"))


def test_a_stop_iteration_stays_one() -> None:
    text = trace(case("next(i)", "i = iter([])"))
    assert without_marks(text).endswith('"<stmt>", line 1, in <module>\n    next(i)\nStopIteration\n')
    assert "generator" not in text


def test_a_users_own_generator_that_raises_it_is_what_python_makes_of_it() -> None:
    text = trace(case("next(g())", "def g():\n    yield next(iter([]))"))
    assert text.endswith("RuntimeError: generator raised StopIteration\n")


def test_causes_contexts_and_groups_are_reported_in_the_same_way() -> None:
    stmt = "try:\n    1/0\nexcept ZeroDivisionError as e:\n    raise ExceptionGroup('both', [e]) from e"
    text = trace(case(stmt, "x = 1\ny = 2"))
    assert text.count('File "<stmt>", line 2') == 2
    assert 'File "<stmt>", line 4' in text
    assert "direct cause" in text


def test_syntax_errors_show_the_line() -> None:
    text = trace(case("pass", "x = 1\nreturn x"))
    assert text.endswith(
        "File \"<setup>\", line 2\n    return x\n    ^^^^^^^^\nSyntaxError: 'return' outside function\n"
    )


def test_a_user_who_prints_a_traceback_sees_the_lines_too(capsys: pytest.CaptureFixture[str]) -> None:
    stmt = "try:\n    1/0\nexcept ZeroDivisionError:\n    traceback.print_exc()"
    perform(timer_job(case(stmt, "import traceback"), runs=1))
    assert "    1/0\n" in capsys.readouterr().err


def test_other_frames_stay() -> None:
    def outer() -> None:
        raise KeyError("here")

    with pytest.raises(KeyError) as caught:
        outer()
    assert trace_of(caught.value) == "".join(traceback.format_exception(caught.value))


def test_what_helps_the_worker_on_its_way_is_left_out() -> None:
    async def fail() -> None:
        raise KeyError("here")

    with pytest.raises(KeyError) as caught:
        calls(fail, (), {}).run(1, lambda: None)
    text = trace_of(caught.value)
    assert text.count("File ") == 1
    assert f'File "{__file__}", line' in text
