"""Variants of one computation (Python or C++, eager or TorchScript, with or without gradients) as orders."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from textwrap import indent
from typing import Literal

from profkit.errors import InvalidOption, UsageError
from profkit.measuring.orders import (
    MeasureOptions,
    dedented,
    language_of,
    mode_of,
    with_options,
    work_order,
)
from profkit.model.workorder import Language, Mode, WorkOrder

Runtime = Literal["eager", "script"]
Texts = str | Mapping[str, str]
"""A text for both languages, or a text for each of "python" and "c++"."""

_WARM_UPS = 3
_SIGNATURE = re.compile(r"\w+\((?P<parameters>[\w, ]*)\)\s*->\s*(?P<result>\w+)")


@dataclass(frozen=True, slots=True)
class Variants:
    """One computation in several forms, for side-by-side comparison."""

    python: str | None = None
    cpp: str | None = None
    setup: Texts = ""
    """Text for both languages, or a text for each of "python" and "c++"."""
    signature: str | None = None
    """`f(x, y) -> z`: the input tensors and the output tensor, or None; needed by `script`, `autograd` and
    `model`."""
    num_threads: int | Sequence[int] = (1,)
    """Instructions are counted with one thread only; other numbers of threads are only timed."""
    autograd: bool = False
    """Also with gradients: forward, then backward from ones. They accumulate in `.grad`, as in training."""
    script: bool = False
    """Also as TorchScript. C++ calls a module that Python saved before measuring."""
    global_setup: Texts = ""
    """Like `setup`, but at module level in Python, and at file scope in C++."""
    model: Texts = ""
    """Text that defines `model`, such as "model = torch.nn.Linear(4, 2)"; runs after the setup. Statements
    that are left out are made from the signature and call `model`."""
    requires_grad: Sequence[str] | None = None
    """Parameters that get gradients; None: all tensors of floating-point or complex numbers."""
    mode: str | Mode | None = None
    number: int | None = None
    timeout_s: float | None = None


@dataclass(frozen=True, slots=True)
class _Form:
    """Texts of one language; `script` is the source of the TorchScript."""

    language: Language
    stmt: str
    setup: str
    model: str
    global_setup: str
    script: str = ""

    @property
    def is_python(self) -> bool:
        return self.language is Language.PYTHON


@dataclass(frozen=True, slots=True)
class _Signature:
    """Parameters and result of a computation."""

    parameters: tuple[str, ...]
    result: str | None
    """None: it returns nothing, but changes its parameters."""

    @property
    def assigned(self) -> str:
        return "" if self.result is None else f"{self.result} = "

    def call_in(self, language: Language) -> str:
        parameters = ", ".join(self.parameters)
        if language is Language.PYTHON:
            return f"{self.assigned}model({parameters})"
        declared = "" if self.result is None else f"auto {self.result} = "
        return f"{declared}model->forward({parameters});"


def _read_signature(text: str | None) -> _Signature | None:
    if text is None:
        return None
    match = _SIGNATURE.fullmatch(text.strip())
    if match is None:
        raise UsageError(f"the signature {text!r} is malformed", "write it as 'f(x, y) -> z'")
    names = (name.strip() for name in match["parameters"].split(","))
    result = match["result"]
    return _Signature(tuple(name for name in names if name), None if result == "None" else result)


def orders_of(given: Variants, label: str, options: MeasureOptions) -> Iterator[WorkOrder]:
    """Yield the orders of a definition; `options` override its own. Raise `UsageError` if it is wrong."""
    signature = _read_signature(given.signature)
    _check(given, signature)
    forms = tuple(_forms(given, signature))
    threads = (given.num_threads,) if isinstance(given.num_threads, int) else tuple(given.num_threads)
    own = {"mode": given.mode, "number": given.number, "timeout_s": given.timeout_s}
    chosen: MeasureOptions = {**{k: v for k, v in own.items() if v is not None}, **options}  # type: ignore[typeddict-item]
    runtimes: tuple[Runtime, ...] = ("eager", "script") if given.script else ("eager",)
    autograds = (False, True) if given.autograd else (False,)
    for runtime, autograd, form in product(runtimes, autograds, forms):
        order = _order(_specialized(form, runtime, given, signature, autograd), label)
        labels = {
            **chosen.get("labels", {}),
            "runtime": runtime,
            "autograd": "forward + backward" if autograd else "forward",
            "language": form.language.value,
        }
        for mode, count in modes(mode_of(chosen), threads):
            extra: MeasureOptions = {**chosen, "labels": labels, "num_threads": count, "mode": mode}
            yield with_options(order, extra)


def modes(mode: Mode, threads: Sequence[int]) -> list[tuple[Mode, int]]:
    """Return (mode, threads) pairs: Callgrind counts one thread; other numbers are only timed."""
    if not threads:
        raise InvalidOption("num_threads", threads, "give at least one number")
    if mode.counts and 1 not in threads:
        raise InvalidOption(
            "num_threads", tuple(threads), "Callgrind counts one thread only: add 1, or use mode='timer'"
        )
    return [(mode if count == 1 else Mode.TIMER, count) for count in threads if count == 1 or mode.times]


def _check(given: Variants, signature: _Signature | None) -> None:
    if given.python is None and given.cpp is None and not given.model:
        raise UsageError("it has no statement", "give Variants python=, cpp= or model=")
    if signature is None and (given.autograd or given.script or given.model):
        raise UsageError("it has no signature", "give Variants signature='f(x) -> y'")
    if given.autograd and signature is not None and signature.result is None:
        raise UsageError(
            f"autograd needs a result, and the signature {given.signature!r} has none",
            "name the tensor to differentiate, as in 'f(x, y) -> z', or leave out autograd",
        )
    for language in Language:
        text = _text(given.model, language)
        if text and not re.search(r"\bmodel\b", text):
            raise UsageError(f"the text {text!r} does not define `model`", "assign it, as in 'model = …'")
    if given.script and given.python is None and not _text(given.model, Language.PYTHON):
        raise UsageError(
            "there is no Python code to compile to TorchScript", "give Variants python= or model="
        )


def _forms(given: Variants, signature: _Signature | None) -> Iterator[_Form]:
    for language, stmt in ((Language.PYTHON, given.python), (Language.CPP, given.cpp)):
        model = _text(given.model, language)
        if stmt is None and model and signature is not None:
            stmt = signature.call_in(language)
        if stmt is not None:
            setup, global_setup = _text(given.setup, language), _text(given.global_setup, language)
            yield _Form(language, dedented(stmt), setup, model, global_setup)


def _specialized(
    form: _Form, runtime: Runtime, given: Variants, signature: _Signature | None, autograd: bool
) -> _Form:
    if signature is None:
        return form
    form = replace(form, setup=_joined(form.setup, form.model)) if runtime == "eager" else form
    if runtime == "script":
        form = _scripted(form, given, signature, autograd)
    form = _with_gradients(form, given, signature) if autograd else form
    return _warmed(form) if runtime == "script" else form


def _order(form: _Form, label: str) -> WorkOrder:
    order = work_order(
        form.stmt, label=label, language=form.language, setup=form.setup, global_setup=form.global_setup
    )
    return replace(order, script=form.script)


def _scripted(form: _Form, given: Variants, signature: _Signature, autograd: bool) -> _Form:
    """Call TorchScript of the model, or of a function of the statement.

    Python compiles it in the setup. C++ cannot, so it is saved before measuring.
    """
    parameters = ", ".join(signature.parameters)
    source = _text(given.model, Language.PYTHON) or _function(signature, dedented(given.python or ""))
    if form.is_python:
        definition = (
            f"{source}\n_scripted = torch.jit.script(model)"
            if given.model
            else f"_scripted = torch.jit.CompilationUnit({source!r}).model"
        )
        stmt = f"{signature.assigned}_scripted({parameters})"
        return replace(form, setup=_joined("import torch", form.setup, definition), stmt=stmt)
    shown = "".join(f"// {line}\n" for line in source.splitlines())
    definition = f"// TorchScript of:\n{shown}auto profkit_model = profkit::scripted();"
    declared = "" if signature.result is None else f"auto {signature.result} = "
    stmt = f"{declared}profkit_model.forward({{{parameters}}}){'.toTensor()' if autograd else ''};"
    return replace(form, setup=_joined(form.setup, definition), stmt=stmt, script=source)


def _function(signature: _Signature, stmt: str) -> str:
    result = [] if signature.result is None else [f"return {signature.result}"]
    body = "".join(f"    {line}\n" for line in [*stmt.splitlines(), *result])
    return f"def model({', '.join(signature.parameters)}):\n{body}"


def _with_gradients(form: _Form, given: Variants, signature: _Signature) -> _Form:
    """Add a backward pass from ones; the setup makes these once, outside the measurement."""
    result, stmt = signature.result, form.stmt
    wanted = signature.parameters if given.requires_grad is None else tuple(given.requires_grad)
    if form.is_python:
        ones = f"{stmt}\n_ones = torch.ones_like({result})"
        setup = _joined("import torch", form.setup, _python_gradients(wanted), ones)
        return replace(form, setup=setup, stmt=f"{stmt}\n{result}.backward(_ones)")
    ones = f"at::Tensor profkit_ones;\n{{\n{stmt}\nprofkit_ones = at::ones_like({result});\n}}"
    setup = _joined(form.setup, _cpp_gradients(wanted), ones)
    return replace(form, setup=setup, stmt=f"{stmt}\n{result}.backward(profkit_ones);")


def _warmed(form: _Form) -> _Form:
    """Execute the statement in the setup: TorchScript profiles the first calls, and then optimizes."""
    if form.is_python:
        loop = f"for _ in range({_WARM_UPS}):\n{indent(form.stmt, '    ')}"
    else:
        loop = f"for (int profkit_i = 0; profkit_i < {_WARM_UPS}; ++profkit_i) {{\n{form.stmt}\n}}"
    return replace(form, setup=_joined(form.setup, loop))


def _python_gradients(names: Sequence[str]) -> str:
    """Return setup that requests gradients; not of integers and booleans, which torch refuses."""
    if not names:
        return ""
    return (
        f"for _value in ({', '.join(names)},):\n"
        "    if isinstance(_value, torch.Tensor) and (_value.is_floating_point() or _value.is_complex()):\n"
        "        _value.requires_grad_(True)"
    )


def _cpp_gradients(names: Sequence[str]) -> str:
    """Return the same setup for C++, whose parameters may also be numbers."""
    if not names:
        return ""
    return _CPP_GRADIENTS + "\n".join(f"profkit_require_grad({name});" for name in names)


_CPP_GRADIENTS = """\
auto profkit_require_grad = [](auto const &value) {
  if constexpr (std::is_base_of_v<at::TensorBase, std::decay_t<decltype(value)>>)
    if (value.is_floating_point() || value.is_complex()) value.requires_grad_(true);
};
"""


def _text(given: Texts, language: Language) -> str:
    """Return a language's text; raise `UsageError` if a key is no language."""
    if isinstance(given, str):
        return dedented(given)
    texts = {language_of(name): text for name, text in given.items()}
    return dedented(texts.get(language, ""))


def _joined(*texts: str) -> str:
    return "\n".join(text for text in texts if text)
