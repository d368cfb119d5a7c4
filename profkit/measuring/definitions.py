"""Expansion of definitions (nested names, variants of a statement, PyTorch's form) into work orders."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeGuard, Unpack

from profkit.errors import EntryRefused, UsageError
from profkit.measuring.orders import MeasureOptions, dedented, identity, label_of, with_options, work_order
from profkit.measuring.variants import Variants, orders_of
from profkit.model.workorder import Language, WorkOrder

if TYPE_CHECKING:
    from collections.abc import Sequence

_IMPORT = "import torch"
"""Import that torch's Timer adds to the names of each statement."""


class _Setup(Protocol):
    py_setup: str
    cpp_setup: str
    global_setup: str


class Grouped(Protocol):
    """The attributes that are read from upstream's `GroupedBenchmark`."""

    py_fwd_stmt: str | None
    cpp_fwd_stmt: str | None
    py_model_setup: str | None
    cpp_model_setup: str | None
    inferred_model_setup: bool
    setup: _Setup
    signature_args: Sequence[str] | None
    signature_output: str | None
    torchscript: bool
    autograd: bool
    num_threads: Sequence[int]


class _Enum(Protocol):
    name: str


class Explicit(Protocol):
    """The attributes that are read from upstream's `TimerArgs`."""

    stmt: str
    setup: str
    global_setup: str
    num_threads: int
    language: _Enum


def is_grouped(given: object) -> TypeGuard[Grouped]:
    """Return whether an object looks like upstream's `GroupedBenchmark`."""
    return _has(given, Grouped)


def is_explicit(given: object) -> TypeGuard[Explicit]:
    """Return whether an object looks like upstream's `TimerArgs`."""
    return _has(given, Explicit)


def variants_of(given: Grouped) -> Variants:
    """Return the same computation as `Variants`; its setup itself sets which tensors have gradients."""
    setup, names = given.setup, given.signature_args
    signature = None if names is None else f"f({', '.join(names)}) -> {given.signature_output}"
    model = {"python": given.py_model_setup or "", "c++": given.cpp_model_setup or ""}
    return Variants(
        python=given.py_fwd_stmt,
        cpp=given.cpp_fwd_stmt,
        setup={"python": setup.py_setup, "c++": setup.cpp_setup},
        global_setup={"python": _IMPORT, "c++": setup.global_setup},
        signature=signature,
        model="" if given.inferred_model_setup else model,
        num_threads=tuple(given.num_threads),
        autograd=given.autograd,
        script=given.torchscript,
        requires_grad=(),
    )


def options_of(given: Explicit) -> MeasureOptions:
    """Return the options for `work_order` that such a statement sets."""
    is_python = given.language.name != "CPP"
    return {
        "setup": "" if given.setup == "pass" else given.setup,
        "global_setup": f"{_IMPORT}\n{dedented(given.global_setup)}" if is_python else given.global_setup,
        "num_threads": given.num_threads,
        "language": Language.PYTHON if is_python else Language.CPP,
    }


def _has(given: object, like: type) -> bool:
    return not isinstance(given, type) and all(hasattr(given, name) for name in like.__annotations__)


__all__ = ["Definition", "Definitions", "RefusedEntry", "Variants", "expand", "expand_each", "is_definition"]

Definitions: TypeAlias = "Mapping[Any, Definition]"
"""Mapping of names, tuples of names, or None to definitions; None adds no name.

The key type is Any, since to type checkers `dict[str, …]` is no `Mapping[str | tuple[str, ...] | None, …]`.
"""
Definition: TypeAlias = "str | WorkOrder | Variants | Grouped | Explicit | Definitions"
_CONTENT = frozenset(("args", "kwargs", "setup", "global_setup", "language", "label"))
"""Options for what is measured; refused for a definition that sets this itself."""


@dataclass(frozen=True, slots=True)
class RefusedEntry:
    """Entry of definitions that cannot be measured, and the reason."""

    label: str
    what: str
    """Its statement, as far as it is known."""
    error: EntryRefused


def expand(definitions: Definitions, /, **options: Unpack[MeasureOptions]) -> tuple[WorkOrder, ...]:
    """Return the orders of definitions, in their order; raise `UsageError` if an entry is wrong.

    `options` apply to all orders and override those of the definitions.
    """
    orders = []
    for entry in expand_each(definitions, options):
        if isinstance(entry, RefusedEntry):
            raise UsageError(f"{entry.label!r}: {entry.error.problem}", entry.error.fix)
        orders.append(entry)
    return tuple(orders)


def expand_each(
    given: Definitions | Iterable[Definition], options: MeasureOptions
) -> Iterator[WorkOrder | RefusedEntry]:
    """Yield the orders of definitions; an error in an entry affects that entry only.

    `given` is a dictionary, or a list whose entries are their own labels.
    """
    seen: set[object] = set()
    for definition in [given] if isinstance(given, Mapping) else given:
        for label, one in _flat((), definition):
            yield from _entry(label, one, options, seen)


def is_definition(given: object) -> bool:
    """Return whether this describes orders, right or wrong."""
    plain = isinstance(given, (str, WorkOrder, Variants, Mapping))
    return plain or is_grouped(given) or is_explicit(given)


def _entry(
    label: str, given: Definition, options: MeasureOptions, seen: set[object]
) -> Iterator[WorkOrder | RefusedEntry]:
    try:
        orders = tuple(_orders(label, given, options))
        if not label and (untitled := [order for order in orders if not order.label]):
            raise UsageError(f"{untitled[0]} has no label", "give it a label")
        for order in orders:
            if identity(order) in seen:
                raise UsageError("an earlier order has the same label", "give it another label")
            seen.add(identity(order))
    except UsageError as error:
        what = _what(given)
        title = label or (given.label if isinstance(given, WorkOrder) else label_of(what))
        yield RefusedEntry(title, what, EntryRefused(title, error.problem, error.fix))
    else:
        yield from orders


def _flat(names: tuple[str, ...], given: Definition) -> Iterator[tuple[str, Definition]]:
    if not isinstance(given, Mapping):
        yield " / ".join(names), given
        return
    for key, below in given.items():
        keys = key if isinstance(key, tuple) else () if key is None else (key,)
        yield from _flat((*names, *map(str, keys)), below)


def _orders(label: str, given: Definition, options: MeasureOptions) -> Iterator[WorkOrder]:
    """Yield the orders of one entry; raise `UsageError` if it is wrong."""
    if isinstance(given, str):
        _refuse(options, {"label"})
        named: MeasureOptions = {**options, "label": label}
        yield work_order(given, **named)
        return
    _refuse(options, _CONTENT)
    if isinstance(given, WorkOrder):
        order = with_options(given, options)
        yield replace(order, label=label or given.label)
    elif isinstance(given, Variants):
        yield from orders_of(given, label or _what(given), options)
    elif is_grouped(given):
        yield from orders_of(variants_of(given), label or _what(given), options)
    elif is_explicit(given):
        own: MeasureOptions = {**options_of(given), "label": label}
        yield with_options(work_order(given.stmt, **own), options)
    else:
        raise UsageError(
            f"{given!r} does not define an order", "use a statement, a WorkOrder, Variants or a dictionary"
        )


def _refuse(options: MeasureOptions, without: Iterable[str]) -> None:
    if wrong := sorted(set(options) & set(without)):
        raise UsageError(
            f"the definition says what to measure, which conflicts with {' and '.join(wrong)}",
            f"leave out {', '.join(wrong)}, or move it into the definition",
        )


def _what(given: object) -> str:
    """Return the statement of an entry, or its repr if it has none."""
    if isinstance(given, Variants):
        return given.python or given.cpp or ""
    for name in ("stmt", "py_fwd_stmt", "cpp_fwd_stmt"):
        if isinstance(text := getattr(given, name, None), str):
            return text
    return given if isinstance(given, str) else repr(given)
