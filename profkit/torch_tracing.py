"""Support for PyTorch's tracers: they trace the user's function in place of its wrapper, and that is noted.

This module does not import torch. It sets attributes that torch looks for on traced objects, checked with
torch 2.13 and 2.14. TorchDynamo takes a wrapt proxy for a function (because of its `__class__`) and inlines
the proxy's code. It then guards in C on the defaults and the closure of a *real* function, which a proxy
is not. So the proxy refers to the real function:

- `__script_if_tracing_wrapper` and `__original_fn` (read by TorchDynamo and torch.jit.script if the proxy
  is a value);
- `_torchdynamo_inline` (read if TorchDynamo takes the proxy from the dictionary of a class, once as an
  attribute and once by `inspect.getattr_static` which makes a pair of types for each function).

This module must stay traceable: it must not be in a package named to `skip_frames_of`.
"""

from __future__ import annotations

import builtins
import logging
import sys
import weakref
from collections.abc import Callable
from types import CodeType, FunctionType, ModuleType
from typing import Any, ParamSpec, TypeVar

import wrapt

_P = ParamSpec("_P")
_R = TypeVar("_R")

_log = logging.getLogger("profkit")

Note = Callable[[], None]
"""Callback, called once for each compilation that uses the user's function in place of its wrapper."""


def _run(function: Callable[_P, _R], /, *args: _P.args, **kwargs: _P.kwargs) -> _R:
    return function(*args, **kwargs)


unseen = _run
"""Function that calls another, without compiling it or its callees: `unseen(function, *arguments)`."""


def skip_frames_of(*names: str) -> None:
    """Make TorchDynamo, when it is imported, run the frames of these modules without compiling them.

    It then compiles the functions that they call, as if these modules did not exist. Does not import torch.
    """

    def skip_own_frames(dynamo: ModuleType) -> None:
        global unseen
        add = getattr(getattr(dynamo, "trace_rules", None), "add", None)
        if add is None:
            _log.warning("this PyTorch cannot skip profkit's frames: torch.compile may break graphs")
            return
        for name in names:
            add(name)
        unseen = dynamo.disable(_run)

    wrapt.register_post_import_hook(skip_own_frames, "torch._dynamo")


class Sightings:
    """Detector of tracing; calls `note` once per compilation, and not for guard checks."""

    __slots__ = ("_compilation", "_note")

    def __init__(self, note: Note) -> None:
        self._note = note
        self._compilation: weakref.ref[object] | None = None

    def in_dynamo(self) -> None:
        """Record that TorchDynamo requests the function, to trace it or to check a guard."""
        compilation = _compilation()
        if compilation is None or (self._compilation is not None and self._compilation() is compilation):
            return
        self._compilation = weakref.ref(compilation)
        self._note()

    def in_script(self) -> None:
        """Record that torch.jit.script requests the function."""
        self._note()


class StandIn(wrapt.CallableObjectProxy):  # type: ignore[type-arg]
    """Function to trace in place of a proxy; reading its code counts as tracing."""

    def __init__(self, function: Callable[..., Any], sightings: Sightings) -> None:
        super().__init__(_plain(function))
        self._self_sightings = sightings

    @property
    def __code__(self) -> CodeType:
        self._self_sightings.in_dynamo()
        code: CodeType = self.__wrapped__.__code__
        return code


def seen_through(sightings: Sightings) -> dict[str, object]:
    """Return attributes for a proxy's type that make torch trace the wrapped function instead.

    They are a dictionary because Python would mangle these names in a class body.
    """

    def is_wrapper(proxy: object) -> bool:
        sightings.in_script()
        return True

    def original(proxy: wrapt.ObjectProxy) -> object:  # type: ignore[type-arg]
        sightings.in_dynamo()
        return proxy.__wrapped__

    return {"__script_if_tracing_wrapper": property(is_wrapper), "__original_fn": property(original)}


def seen_function(sightings: Sightings) -> property:
    """Return the `__func__` property for a proxy of a static or class method."""

    def function(proxy: wrapt.ObjectProxy) -> object:  # type: ignore[type-arg]
        sightings.in_dynamo()
        return proxy.__wrapped__.__func__

    return property(function)


def _compilation() -> object | None:
    guards = sys.modules.get("torch._guards")
    return guards.TracingContext.try_get() if guards is not None else None


def _plain(function: Callable[..., Any]) -> FunctionType:
    """Return a function without defaults and closure that calls `function` from its globals."""
    scope = {"__builtins__": builtins, "_function": function}
    plain = FunctionType(_call.__code__, scope, _call.__name__)
    plain.__qualname__ = getattr(function, "__qualname__", _call.__qualname__)
    return plain


def _call(*args: object, **kwargs: object) -> object:
    return _function(*args, **kwargs)  # type: ignore[name-defined]  # noqa: F821 - see `_plain`


def trace_instead(function: Callable[..., Any], traced: Callable[..., Any]) -> None:
    """Make TorchDynamo trace `traced` in place of `function`, a function of profkit."""
    function._torchdynamo_inline = traced  # type: ignore[attr-defined]
