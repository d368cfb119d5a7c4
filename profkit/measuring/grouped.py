"""Definitions of PyTorch's instruction_counts benchmarks, recognised by their attributes → ours.

Those benchmarks are a folder of modules without a distribution, so there is no class to import. See
benchmarks/instruction_counts/core/api.py in PyTorch: `GroupedBenchmark` and `TimerArgs`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeGuard

from profkit.measuring.orders import MeasureOptions, dedented
from profkit.measuring.variants import Variants
from profkit.model.workorder import Language

if TYPE_CHECKING:
    from collections.abc import Sequence

_IMPORT = "import torch"
"""What torch's Timer puts among the names of each statement."""


class _Setup(Protocol):
    py_setup: str
    cpp_setup: str
    global_setup: str


class Grouped(Protocol):
    """The attributes of upstream's `GroupedBenchmark` that are read."""

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
    """The attributes of upstream's `TimerArgs` that are read."""

    stmt: str
    setup: str
    global_setup: str
    num_threads: int
    language: _Enum


def is_grouped(given: object) -> TypeGuard[Grouped]:
    """Whether this is like upstream's `GroupedBenchmark`."""
    return _has(given, Grouped)


def is_explicit(given: object) -> TypeGuard[Explicit]:
    """Whether this is like upstream's `TimerArgs`."""
    return _has(given, Explicit)


def variants_of(given: Grouped) -> Variants:
    """Return the same computation as `Variants`; its setup says itself which tensors have gradients."""
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
    """Return what such a statement says about itself, as options of `work_order`."""
    is_python = given.language.name != "CPP"
    return {
        "setup": "" if given.setup == "pass" else given.setup,
        "global_setup": f"{_IMPORT}\n{dedented(given.global_setup)}" if is_python else given.global_setup,
        "num_threads": given.num_threads,
        "language": Language.PYTHON if is_python else Language.CPP,
    }


def _has(given: object, like: type) -> bool:
    return not isinstance(given, type) and all(hasattr(given, name) for name in like.__annotations__)
