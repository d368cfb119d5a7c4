"""Regions of user code: what can be one, its label if none is given, and how its samples are identified."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import CodeType

from profkit.calls.with_statements import Statement
from profkit.errors import UsageError
from profkit.model.region import (
    Compilation,
    Region,
    RegionKey,
    RegionKind,
    code_of,
    digest_of,
    frame_code_of,
    kind_of,
    readable,
)


@dataclass(frozen=True, slots=True)
class RegionExtras:
    """Settings that a profiler adds to each of its regions."""

    all_threads: bool = False
    stack_max_len: int = 0
    async_stack_max_len: int = 0
    """Like `stack_max_len`, for coroutines and async generators."""
    tags: tuple[str, ...] = ()
    user: str = ""
    env_names: tuple[str, ...] = ()

    def region(
        self, key: RegionKey, kind: RegionKind, file: str, *, expected: CodeType | None = None,
        body: tuple[int, ...] = (), detached: bool = False, code: str = "",
        compilation: Compilation | None = None,
    ) -> Region:  # fmt: skip
        """Return a region with these settings; `expected` is the code above its marker."""
        suspends = kind in (RegionKind.COROUTINE, RegionKind.ASYNC_GENERATOR)
        return Region(
            key=key,
            kind=kind,
            file=file,
            expected=None if expected is None else (expected.co_qualname, expected.co_filename),
            body=body,
            detached=detached,
            all_threads=self.all_threads,
            stack_max_len=self.async_stack_max_len if suspends else self.stack_max_len,
            tags=self.tags,
            user=self.user,
            env=_recorded(self.env_names),
            code=code,
            compilation=compilation,
        )


def check_callable(function: object) -> None:
    """Raise `UsageError` for an object that cannot be decorated."""
    # A class method can wrap a property until Python 3.12.
    if not callable(getattr(function, "__func__", function)):
        raise UsageError(
            f"{function!r} is not callable", "give a function: @profile() above a def, or profile(label=…)"
        )


def check_tracked(function: object) -> None:
    """Raise `UsageError` for a function whose memory cannot be tracked, because it can be suspended."""
    kind = kind_of(getattr(function, "__func__", function))
    if kind in _SUSPENDING:
        raise UsageError(
            f"the memory of {function!r} cannot be tracked: other code allocates while it is suspended",
            "set mode='memory' on a function that it calls, or write `with profiled(mode='memory'):` around "
            "the code that runs it",
        )


_SUSPENDING = (RegionKind.COROUTINE, RegionKind.GENERATOR, RegionKind.ASYNC_GENERATOR)


def function_region(function: Callable[..., object], label: str | None, extras: RegionExtras) -> Region:
    """Return the region of a decorated function, method or other callable."""
    target = getattr(function, "__func__", function)  # of static, class and bound methods
    code = code_of(target)
    named = target if hasattr(target, "__qualname__") else type(target)
    qualname = str(named.__qualname__)
    key = RegionKey(
        module=str(getattr(target, "__module__", None) or type(target).__module__),
        qualname=qualname,
        line=code.co_firstlineno if code else 0,
        label=label or readable(qualname),
    )
    return extras.region(
        key, kind_of(target), code.co_filename if code else "",
        expected=frame_code_of(target), code=digest_of(code) if code else "",
    )  # fmt: skip


def block_region(statement: Statement, module: str, label: str | None, extras: RegionExtras) -> Region:
    """Return the region of a `with` statement; it is detached if its body is not known."""
    code, line = statement.code, statement.line
    key = RegionKey(
        module=module,
        qualname=code.co_qualname,
        line=line,
        label=label or f"{readable(code.co_qualname)}:{line}",
    )
    return extras.region(
        key, RegionKind.BLOCK, code.co_filename,
        body=tuple(sorted(statement.body or ())), detached=statement.body is None, code=statement.digest,
    )  # fmt: skip


def _recorded(names: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """Return environment variables, with the values of secrets hidden."""
    if not names:
        return ()
    from profkit.process.manifest import recorded_variables  # rarely needed

    return recorded_variables(names)
