"""What PyTorch's tracers find in place of a profiled function or block: the user's code, and a note of it.

Nothing here imports torch; all of it is attributes that torch looks for on what it traces, checked with
torch 2.13 and 2.14. TorchDynamo takes a wrapt proxy for a function (its `__class__` says so), inlines
the code it finds on it, and then guards in C on the defaults and the closure of a *real* function,
which a proxy is not. So the proxy has to say where the real function is:

- `__script_if_tracing_wrapper` and `__original_fn` (read by TorchDynamo and by torch.jit.script wherever
  they meet the proxy as a value);
- `_torchdynamo_inline` (read where TorchDynamo takes the proxy from the dictionary of a class, once as
  an attribute and once by `inspect.getattr_static`: hence one pair of types for each function).

This module has to stay traceable: it must not lie in a package named to `skip_frames_of`.
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
"""Called once for each compilation that takes the user's function in place of its wrapper."""


def _run(function: Callable[_P, _R], /, *args: _P.args, **kwargs: _P.kwargs) -> _R:
    return function(*args, **kwargs)


unseen = _run
"""Calls a function with nothing of it, or below it, being compiled: `unseen(function, *arguments)`."""


def skip_frames_of(*names: str) -> None:
    """Have TorchDynamo, once it is imported, run the frames of these modules as they are.

    It then compiles what they call, as if they were not there. Does not import torch.
    """

    def tell(dynamo: ModuleType) -> None:
        global unseen
        add = getattr(getattr(dynamo, "trace_rules", None), "add", None)
        if add is None:
            _log.warning(
                "this PyTorch cannot be told to skip profkit's frames: torch.compile may break graphs"
            )
            return
        for name in names:
            add(name)
        unseen = dynamo.disable(_run)

    wrapt.register_post_import_hook(tell, "torch._dynamo")


class Sightings:
    """Calls `note` at the first sighting in each compilation; a check of guards is no sighting."""

    __slots__ = ("_compilation", "_note")

    def __init__(self, note: Note) -> None:
        self._note = note
        self._compilation: weakref.ref[object] | None = None

    def in_dynamo(self) -> None:
        """TorchDynamo asks for the function, to trace it or to check a guard."""
        compilation = _compilation()
        if compilation is None or (self._compilation is not None and self._compilation() is compilation):
            return
        self._compilation = weakref.ref(compilation)
        self._note()

    def in_script(self) -> None:
        """torch.jit.script asks for the function."""
        self._note()


class StandIn(wrapt.CallableObjectProxy):  # type: ignore[type-arg]
    """A function to trace in place of a proxy. Who reads its code is about to trace it."""

    def __init__(self, function: Callable[..., Any], sightings: Sightings) -> None:
        super().__init__(_plain(function))
        self._self_sightings = sightings

    @property
    def __code__(self) -> CodeType:
        self._self_sightings.in_dynamo()
        code: CodeType = self.__wrapped__.__code__
        return code


def seen_through(sightings: Sightings) -> dict[str, object]:
    """Attributes of a proxy's type: what it wraps is to be traced in its place.

    Made as a dictionary because Python would mangle these names in the body of a class.
    """

    def is_wrapper(proxy: object) -> bool:
        sightings.in_script()
        return True

    def original(proxy: wrapt.ObjectProxy) -> object:  # type: ignore[type-arg]
        sightings.in_dynamo()
        return proxy.__wrapped__

    return {"__script_if_tracing_wrapper": property(is_wrapper), "__original_fn": property(original)}


def seen_function(sightings: Sightings) -> property:
    """The `__func__` of a proxy of a static or class method."""

    def function(proxy: wrapt.ObjectProxy) -> object:  # type: ignore[type-arg]
        sightings.in_dynamo()
        return proxy.__wrapped__.__func__

    return property(function)


def _compilation() -> object | None:
    guards = sys.modules.get("torch._guards")
    return guards.TracingContext.try_get() if guards is not None else None


def _plain(function: Callable[..., Any]) -> FunctionType:
    """A function without defaults and closure that calls `function`, which it finds in its globals."""
    scope = {"__builtins__": builtins, "_function": function}
    plain = FunctionType(_call.__code__, scope, _call.__name__)
    plain.__qualname__ = getattr(function, "__qualname__", _call.__qualname__)
    return plain


def _call(*args: object, **kwargs: object) -> object:
    return _function(*args, **kwargs)  # type: ignore[name-defined]  # noqa: F821 - see `_plain`


def trace_instead(function: Callable[..., Any], traced: Callable[..., Any]) -> None:
    """Have TorchDynamo trace `traced` wherever it meets `function`, a function of ours."""
    function._torchdynamo_inline = traced  # type: ignore[attr-defined]
