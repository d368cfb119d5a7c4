from __future__ import annotations

import pytest

from profkit.errors import UsageError
from profkit.measuring.definitions import Definition, RefusedEntry, Variants, expand, expand_each
from profkit.measuring.orders import MeasureOptions, refusing_later, work_order
from profkit.model.workorder import Language, Mode, WorkOrder

ADD = Variants(
    python="z = x + y",
    cpp="auto z = x + y;",
    setup={"python": "import torch; x = y = torch.ones(4)", "c++": "auto x = at::ones({4}); auto y = x;"},
    signature="f(x, y) -> z",
    num_threads=(1, 2),
    autograd=True,
    script=True,
)


def test_nested_names_become_labels() -> None:
    orders = expand({"a": {"b": "1 + 1", "c": {"d": "2"}}, "e": work_order("3")})
    assert [(order.label, order.stmt) for order in orders] == [
        ("a / b", "1 + 1"),
        ("a / c / d", "2"),
        ("e", "3"),
    ]


def test_variants_expand_over_runtime_autograd_language_and_threads() -> None:
    orders = expand({"add": ADD})
    told = [(*(value for _, value in order.labels), order.num_threads) for order in orders]
    assert len(told) == len(set(told)) == 16
    assert {order.language for order in orders} == {Language.PYTHON, Language.CPP}
    assert ("script", "forward + backward", "python", 2) in told
    assert ("script", "forward", "c++", 1) in told


def test_gradients_are_made_once_in_the_setup() -> None:
    backward = [order for order in expand({"add": ADD}) if ("autograd", "forward + backward") in order.labels]
    assert all("ones_like(z)" in order.setup and "ones_like" not in (order.stmt or "") for order in backward)


@pytest.mark.parametrize(
    ("given", "word"),
    [
        (Variants(), "no statement"),
        (Variants(python="x", autograd=True), "no signature"),
        (Variants(python="x", script=True, signature="x -> y"), "write it as"),
        (3, "does not define an order"),
        (Variants(model={"python": "import os"}, signature="f(x) -> y"), "define `model`"),
        (Variants(cpp="1;", script=True, signature="f(x) -> y"), "no Python"),
        (Variants(python="x += y", signature="f(x, y) -> None", autograd=True), "autograd needs a result"),
        (Variants(python="1", setup={"rust": ""}), "language='rust'"),
        (Variants(python="1", num_threads=(2, 4), mode="callgrind"), "add 1"),
        (Variants(python="1", num_threads=(2, 4), mode="timer+callgrind"), "add 1"),
    ],
)
def test_what_is_no_definition_is_named(given: object, word: str) -> None:
    with pytest.raises(UsageError, match=word):
        expand({"a": {"b": given}})  # type: ignore[dict-item]


BLOCK = """
    for _ in range(3):
        x = 1

    y = 2
"""
DEDENTED = "for _ in range(3):\n    x = 1\n\ny = 2"
COUNTING: MeasureOptions = {"mode": "callgrind"}


def by_label(given: dict[object, Definition], **options: object) -> dict[str, WorkOrder]:
    return {order.label: order for order in expand(given, **options)}  # type: ignore[arg-type]


def refusals(given: dict[object, Definition], options: MeasureOptions | None = None) -> dict[str, str]:
    entries = expand_each(given, options or {})
    return {entry.label: str(entry.error) for entry in entries if isinstance(entry, RefusedEntry)}


def test_keys_are_names_tuples_of_names_or_nothing() -> None:
    given: dict[object, Definition] = {
        ("Pointwise", "Math"): {"add": {None: "1", "large": "2"}},
        "sum": {None: {None: "3"}},
        (): {"bare": "4"},
    }
    assert list(by_label(given)) == [
        "Pointwise / Math / add",
        "Pointwise / Math / add / large",
        "sum",
        "bare",
    ]


@pytest.mark.parametrize("language", ["python", "c++"])
def test_indented_text_is_dedented_as_by_torchs_timer(language: str) -> None:
    order = work_order(BLOCK, setup=BLOCK, global_setup=BLOCK, language=language)
    assert (order.stmt, order.setup, order.global_setup) == (DEDENTED,) * 3


def test_indented_variants_are_dedented_before_they_are_joined() -> None:
    texts = {"python": "\n    x = 1\n", "cpp": "\n    int x = 1;\n"}
    order, *others = expand(
        {
            "a": Variants(
                python=BLOCK, cpp=BLOCK, setup=texts, signature="f(x) -> y", autograd=True, script=True
            )
        }
    )
    assert order.stmt == DEDENTED
    assert "\n    int" not in others[-1].setup
    assert len(others) == 7


def test_a_script_may_have_no_result() -> None:
    given = Variants(python="x += y", cpp="x += y;", signature="f(x, y) -> None", script=True)
    *_, python, cpp = expand({"add_": given})
    assert python.stmt == "_scripted(x, y)"
    assert "return" not in python.setup
    assert cpp.stmt == "profkit_model.forward({x, y});"
    assert cpp.script == "def model(x, y):\n    x += y\n"


@pytest.mark.torch
def test_only_parameters_that_can_have_gradients_get_them() -> None:
    import torch

    (_, order) = expand({"a": Variants(python="z = x * i", signature="f(x, i, n) -> z", autograd=True)})
    names: dict[str, object] = {"x": torch.ones(2), "i": torch.ones(2, dtype=torch.int32), "n": 3}
    exec(f"{order.setup}\n{order.stmt}", names)
    assert [getattr(names[name], "requires_grad", None) for name in ("x", "i", "n")] == [True, False, None]
    (_, chosen) = expand(
        {"a": Variants(python="z = x", signature="f(x) -> z", autograd=True, requires_grad=())}
    )
    assert "requires_grad" not in chosen.setup


def test_a_model_is_called_by_the_signature() -> None:
    model = {"python": "model = torch.nn.ReLU()", "c++": "auto model = torch::nn::ReLU();"}
    orders = expand({"relu": Variants(model=model, signature="f(x) -> y", script=True)})
    assert [order.stmt for order in orders] == [
        "y = model(x)",
        "auto y = model->forward(x);",
        "y = _scripted(x)",
        "auto y = profkit_model.forward({x});",
    ]
    assert orders[-1].script == "model = torch.nn.ReLU()"


@pytest.mark.parametrize(
    ("mode", "threads", "expected"),
    [
        ("timer", (1, 2), [("timer", 1), ("timer", 2)]),
        ("timer+callgrind", (1, 2), [("timer+callgrind", 1), ("timer", 2)]),
        ("callgrind", (2, 1), [("callgrind", 1)]),
        ("timer", 4, [("timer", 4)]),
    ],
)
def test_one_thread_is_counted_and_all_are_timed(
    mode: str, threads: int | tuple[int, ...], expected: list[tuple[str, int]]
) -> None:
    orders = expand({"a": Variants(python="1", num_threads=threads)}, mode=mode)
    assert [(order.mode.value, order.num_threads) for order in orders] == expected


def test_an_entry_has_options_of_its_own_which_those_for_all_overrule() -> None:
    given: dict[object, Definition] = {
        "a": Variants(python="1", mode="callgrind", number=7, timeout_s=3.0),
        "b": work_order("2", number=5, env={"A": "1", "B": "1"}),
    }
    orders = by_label(given)
    assert (orders["a"].mode, orders["a"].number, orders["a"].timeout_s) == (Mode.CALLGRIND, 7, 3.0)
    overruled = by_label(given, mode="timer", number=1, quick=True, env={"B": "2"})
    assert {order.mode for order in overruled.values()} == {Mode.TIMER}
    assert {(order.number, order.quick) for order in overruled.values()} == {(1, True)}
    assert overruled["b"].env == (("A", "1"), ("B", "2"))


def test_global_setup_is_for_each_language() -> None:
    texts = {"python": "import math", "cpp": "#include <cmath>"}
    python, cpp = expand({"a": Variants(python="1", cpp="1;", global_setup=texts)})
    assert (python.global_setup, cpp.global_setup) == ("import math", "#include <cmath>")


def test_a_wrong_entry_is_refused_alone() -> None:
    given: dict[object, Definition] = {
        "fine": "1",
        "syntax": "1 +",
        "deep": {"unsigned": Variants(python="x", script=True), "fine": "2"},
        "number": Variants(python="1", number=0),
        "other": 3,  # type: ignore[dict-item]
        ("fine",): "3",
    }
    entries = list(expand_each(given, {}))
    assert [one.label for one in entries if isinstance(one, WorkOrder)] == ["fine", "deep / fine"]
    assert list(refusals(given)) == ["syntax", "deep / unsigned", "number", "other", "fine"]


def test_what_an_entry_says_itself_is_refused_from_elsewhere() -> None:
    given: dict[object, Definition] = {
        "text": "x",
        "order": work_order("1"),
        "variants": Variants(python="1"),
    }
    assert list(refusals(given, {"setup": "x = 1"})) == ["order", "variants"]
    assert "conflicts with language" in refusals(given, {"language": "c++"})["variants"]


def test_a_list_of_orders_takes_options_like_a_dictionary() -> None:
    two = list(expand_each([work_order("1"), work_order("2", num_threads=2), "3"], COUNTING))
    assert [isinstance(one, WorkOrder) for one in two] == [True, False, True]
    assert {one.mode for one in two if isinstance(one, WorkOrder)} == {Mode.CALLGRIND}
    assert [one.label for one in two] == ["1", "2", "3"]


def test_an_order_that_makes_no_sense_can_be_refused_with_the_others_of_its_file() -> None:
    with refusing_later():
        orders = [
            work_order("1 +"),
            work_order("1", nonsense=1),
            work_order("1"),
            work_order("2", label="b", number=0),
        ]  # type: ignore[call-arg]
    entries = list(expand_each(orders, {"quick": True}))
    assert [type(entry) for entry in entries] == [RefusedEntry, RefusedEntry, WorkOrder, RefusedEntry]
    assert [entry.label for entry in entries] == ["1 +", "1", "1", "b"]
    with pytest.raises(UsageError, match="nonsense"):
        work_order("1", nonsense=1)  # type: ignore[call-arg]
