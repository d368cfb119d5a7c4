"""Definitions: nested names and variants of a statement → orders.

    expand({
        "add": {
            "small": Variants(python="z = x + y", cpp="auto z = x + y;",
                              setup={"python": "import torch; x = y = torch.ones(4)",
                                     "c++": "auto x = at::ones({4}); auto y = x;"},
                              signature="f(x, y) -> z", autograd=True, num_threads=(1, 2)),
            "large": "sum(range(10_000))",
        },
    })

gives orders labelled "add / small" and "add / large", told apart by the labels `runtime`, `autograd` and
`language`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Literal, TypeAlias, Unpack

from profkit.errors import UsageError
from profkit.measuring.orders import MeasureOptions, work_order
from profkit.model.workorder import Language, WorkOrder

Runtime = Literal["eager", "script"]
_SIGNATURE = re.compile(r"\w+\((?P<parameters>[\w, ]*)\)\s*->\s*(?P<result>\w+)")


@dataclass(frozen=True, slots=True)
class Variants:
    """One computation in several forms, to be seen side by side."""

    python: str | None = None
    cpp: str | None = None
    setup: str | Mapping[str, str] = ""
    """Text for both languages, or for each by its name: "python", "c++"."""
    signature: str | None = None
    """`f(x, y) -> z`: the tensors that go in and the one that comes out; scripts and autograd need it."""
    num_threads: Sequence[int] = (1,)
    autograd: bool = False
    """Also with gradients: forward, then backward from ones. They add up in `.grad`, as in training."""
    script: bool = False
    """Also as a TorchScript function."""


Definition: TypeAlias = "str | WorkOrder | Variants | Mapping[str, Definition]"


def expand(
    definitions: Mapping[str, Definition], /, **options: Unpack[MeasureOptions]
) -> tuple[WorkOrder, ...]:
    """The orders that definitions describe, in their order; `options` hold for all. Raises `UsageError`."""
    return tuple(_expanded((), definitions, options))


def _expanded(names: tuple[str, ...], given: Definition, options: MeasureOptions) -> Iterator[WorkOrder]:
    label = " / ".join(names)
    match given:
        case WorkOrder():
            yield replace(given, label=label or given.label)
        case str():
            named: MeasureOptions = {**options, "label": label}
            yield work_order(given, **named)
        case Variants():
            yield from _variants(label, given, options)
        case Mapping():
            for name, below in given.items():
                yield from _expanded((*names, str(name)), below, options)
        case _:
            raise UsageError(
                f"{label!r} is {given!r}", "define orders by statements, WorkOrder, Variants or dictionaries"
            )


def _variants(label: str, given: Variants, options: MeasureOptions) -> Iterator[WorkOrder]:
    if given.python is None and given.cpp is None:
        raise UsageError(f"{label!r} has no statement", "give Variants python= or cpp=")
    if (given.autograd or given.script) and given.signature is None:
        raise UsageError(f"{label!r} has no signature", "give Variants signature='f(x) -> y'")
    texts = {Language.PYTHON: given.python, Language.CPP: given.cpp}
    runtimes: tuple[Runtime, ...] = ("eager", "script") if given.script else ("eager",)
    for runtime, autograd, language, threads in product(
        runtimes, (False, True) if given.autograd else (False,), texts, given.num_threads
    ):
        stmt = texts[language]
        if stmt is None or (runtime == "script" and language is Language.CPP):
            continue
        setup = given.setup if isinstance(given.setup, str) else given.setup.get(language.value, "")
        if runtime == "script":
            setup, stmt = _scripted(label, setup, stmt, given)
        if autograd:
            setup, stmt = _with_gradients(label, setup, stmt, given, language)
        labels = {
            "runtime": runtime,
            "autograd": "forward + backward" if autograd else "forward",
            "language": language.value,
        }
        own: MeasureOptions = {
            **options,
            "label": label, "labels": labels, "language": language, "setup": setup, "num_threads": threads,
        }  # fmt: skip
        yield work_order(stmt, **own)


def _signature(label: str, given: Variants) -> tuple[tuple[str, ...], str]:
    match = _SIGNATURE.fullmatch((given.signature or "").strip())
    if match is None:
        raise UsageError(f"{label!r} has the signature {given.signature!r}", "write it as 'f(x, y) -> z'")
    names = (name.strip() for name in match["parameters"].split(","))
    return tuple(name for name in names if name), match["result"]


def _scripted(label: str, setup: str, stmt: str, given: Variants) -> tuple[str, str]:
    parameters, result = _signature(label, given)
    body = "".join(f"    {line}\n" for line in [*stmt.splitlines(), f"return {result}"])
    source = f"def f({', '.join(parameters)}):\n{body}"
    made = f"import torch\n{setup}\n_scripted = torch.jit.CompilationUnit({source!r}).f"
    return made, f"{result} = _scripted({', '.join(parameters)})"


def _with_gradients(
    label: str, setup: str, stmt: str, given: Variants, language: Language
) -> tuple[str, str]:
    """The gradient of the result is made once, in the setup: it is no part of what is measured."""
    parameters, result = _signature(label, given)
    if language is Language.PYTHON:
        wanted = "".join(f"{name}.requires_grad_(True)\n" for name in parameters)
        made = f"import torch\n{setup}\n{wanted}{stmt}\n_ones = torch.ones_like({result})"
        return made, f"{stmt}\n{result}.backward(_ones)"
    wanted = "".join(f"{name}.requires_grad_(true);\n" for name in parameters)
    ones = f"at::Tensor profkit_ones;\n{{\n{stmt}\nprofkit_ones = at::ones_like({result});\n}}"
    return f"{setup}\n{wanted}{ones}", f"{stmt}\n{result}.backward(profkit_ones);"
