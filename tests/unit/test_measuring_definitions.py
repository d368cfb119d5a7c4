import pytest

from profkit.errors import UsageError
from profkit.measuring.definitions import Variants, expand
from profkit.measuring.orders import work_order
from profkit.model.workorder import Language, Mode

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
    assert len(told) == len(set(told)) == 12
    assert {order.language for order in orders} == {Language.PYTHON, Language.CPP}
    assert ("script", "forward + backward", "python", 2) in told
    assert not [labels for labels in told if labels[0] == "script" and labels[2] == "c++"]


def test_gradients_are_made_once_in_the_setup() -> None:
    backward = [order for order in expand({"add": ADD}) if ("autograd", "forward + backward") in order.labels]
    assert all("ones_like(z)" in order.setup and "ones_like" not in (order.stmt or "") for order in backward)


def test_options_hold_for_all() -> None:
    assert {order.mode for order in expand({"a": "1", "b": "2"}, mode="callgrind")} == {Mode.CALLGRIND}


@pytest.mark.parametrize(
    ("given", "word"),
    [
        (Variants(), "no statement"),
        (Variants(python="x", autograd=True), "no signature"),
        (Variants(python="x", script=True, signature="x -> y"), "write it as"),
        (3, "define orders"),
    ],
)
def test_what_is_no_definition_is_named(given: object, word: str) -> None:
    with pytest.raises(UsageError, match=word):
        expand({"a": {"b": given}})  # type: ignore[dict-item]
