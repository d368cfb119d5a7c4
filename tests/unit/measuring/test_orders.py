import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from profkit.errors import InvalidOption, UnknownOption, UsageError
from profkit.measuring.orders import dedented, label_of, with_options, words_of, work_order
from profkit.model.workorder import Language, Level, Mode, Simulation


def test_a_statement_needs_nothing_else() -> None:
    order = work_order("x + y")
    assert (order.label, order.stmt, order.mode, order.num_threads) == ("x + y", "x + y", Mode.TIMER, 1)


def test_options_are_read_as_words() -> None:
    order = work_order(
        "f();", language="C++", mode="timer+callgrind", level="module", simulate=["cache"],
        env={"B": "1", "A": "2"},
        source_cmd="conda run -n 'my env'", labels={"autograd": "forward"}, imports=(),
    )  # fmt: skip
    assert (order.language, order.mode, order.level) == (Language.CPP, Mode.BOTH, Level.MODULE)
    assert order.simulate == (Simulation.CACHE,)
    assert order.env == (("A", "2"), ("B", "1"))
    assert order.source_cmd == ("conda", "run", "-n", "my env")
    assert (order.labels, order.imports) == ((("autograd", "forward"),), ())


def test_the_label_is_one_short_line_or_the_name_of_a_callable() -> None:
    class Model:
        def __call__(self) -> None: ...

    assert label_of("a = 1\n  b = 2") == "a = 1 b = 2"
    assert len(label_of("x" * 100)) == 60
    assert label_of(len) == "len"
    assert label_of(Model()).endswith("Model")


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"num_threads": 0}, "num_threads"),
        ({"num_threads": None}, "num_threads"),
        ({"num_threads": True}, "num_threads"),
        ({"repeats": 1.5}, "repeats"),
        ({"runs": -1}, "runs"),
        ({"timeout_s": float("inf")}, "timeout_s"),
        ({"min_run_time_s": "1"}, "min_run_time_s"),
        ({"retries": -1}, "retries"),
        ({"mode": "walltime"}, "'timer+callgrind'"),
        ({"language": "rust"}, "'c++'"),
        ({"level": "class"}, "'module'"),
        ({"imports": ["pandas"]}, "'torch' or 'numpy'"),
        ({"simulate": ["gpu"], "mode": "callgrind"}, "'branch'"),
        ({"runs": 1, "mode": "timer+callgrind"}, "give 2 or more"),
        ({"simulate": ["cache"]}, "mode='callgrind'"),
        ({"mode": "callgrind", "num_threads": 2}, "one thread"),
        ({"source_cmd": "source env/bin/activate && python"}, "not run in a shell"),
        ({"source_cmd": "conda 'run"}, "quotes"),
        ({"source_cmd": "env", "python": "/usr/bin/python3"}, "one of them"),
        ({"args": (1,)}, "setup"),
        ({"setup": "def"}, "setup"),
        ({"mod": "timer"}, "'mode'"),
    ],
)
def test_what_makes_no_sense_is_refused(options: dict[str, object], word: str) -> None:
    with pytest.raises(UsageError, match=re.escape(word)):
        work_order("x", **options)  # type: ignore[arg-type]


def test_only_statements_and_callables_are_measured() -> None:
    with pytest.raises(UsageError, match="stmt of 'x \\+' is not valid Python"):
        work_order("x +")
    with pytest.raises(UsageError, match="42"):
        work_order(42)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match=r"no C\+\+|not C\+\+"):
        work_order(len, language="c++")


def test_words_are_not_read_by_a_shell() -> None:
    assert words_of("env 'A=$(date)'") == ("env", "A=$(date)")
    with pytest.raises(InvalidOption):
        words_of("a; b ;")


def test_an_order_can_be_had_with_other_options() -> None:
    order = work_order("x", setup="x = 1", label="a", env={"A": "1", "B": "1"}, number=3)
    changed = with_options(order, {"mode": "callgrind", "env": {"B": "2"}, "label": "other"})
    assert (changed.label, changed.setup, changed.number) == ("a", "x = 1", 3)
    assert (changed.mode, changed.env) == (Mode.CALLGRIND, (("A", "1"), ("B", "2")))
    assert with_options(order, {}) == order
    with pytest.raises(UsageError, match="num_threads"):
        with_options(changed, {"num_threads": 2})
    with pytest.raises(UnknownOption):
        with_options(order, {"nonsense": 1})  # type: ignore[typeddict-unknown-key]


@given(st.lists(st.sampled_from(["x = 1", "if x:", "    y = 2", "", "  "]), max_size=6), st.integers(0, 4))
def test_texts_say_the_same_at_each_indentation(lines: list[str], levels: int) -> None:
    text = "\n".join(lines)
    indented = "\n" + "\n".join("    " * levels + line for line in lines) + "\n  "
    assert dedented(indented) == dedented("\n" + text)
    assert dedented(indented).split() == text.split()
    assert not dedented(indented).endswith((" ", "\n"))
