"""FunctionProfiler: the lock-guarded profiler under `profile()` and `profiled()`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import CodeType, FrameType
from typing import TYPE_CHECKING, ParamSpec, TypeVar, Unpack, cast

from profkit.calls.markers import Marker, make_marker
from profkit.calls.options import ProfilerOptions, settings
from profkit.calls.regions import block_region, check_callable, function_region
from profkit.calls.slow_path import results_of
from profkit.config import CONFIG
from profkit.model.region import Region, RegionKey, code_of
from profkit.session.counters import Account

if TYPE_CHECKING:
    from profkit.model.run import Run

_P = ParamSpec("_P")
_R = TypeVar("_R")


class FunctionProfiler:
    """Profiles functions that it is handed, under one set of options.

    All profilers of a process share its one session, which a class-wide lock guards. The user's
    function runs exactly once; its value or exception passes through. Takes every parameter of
    PyTorch's `StrobelightCLIFunctionProfiler`, and has its attributes, so that code written for that
    class can be handed this one.
    """

    def __init__(self, **options: Unpack[ProfilerOptions]) -> None:
        self.settings = settings(options)
        self._accounts: dict[tuple[RegionKey, str], Account] = {}
        self._markers: dict[CodeType, tuple[Account, Marker]] = {}
        self._last: Account | None = None

    @property
    def active(self) -> bool:
        """Whether anything is profiled: not with `enabled=False` or PROFKIT_DISABLE=1, and only on Linux."""
        return self.settings.enabled and not CONFIG.disabled and sys.platform == "linux"

    @property
    def every(self) -> int:
        """Of so many calls the first is profiled."""
        return self.settings.every

    def profile(self, function: Callable[_P, _R], /, *args: _P.args, **kwargs: _P.kwargs) -> _R:
        """Call `function` and profile the call; what it returns or raises is handed on."""
        if not self.active:
            return function(*args, **kwargs)
        try:
            return cast(_R, self._marker(function)(function, *args, **kwargs))
        except BaseException:
            self._release_compile_hook()
            raise

    def account(self, function: Callable[..., object]) -> Account:
        """The account of a function under this profiler's options; raises `UsageError`."""
        check_callable(function)
        chosen = self.settings
        return self._account(function_region(function, chosen.label, chosen.extras))

    def block_account(self, frame: FrameType, line: int, body: frozenset[int] | None) -> Account:
        """The account of a `with` statement; `body` None: enter and exit lie in different frames."""
        chosen = self.settings
        return self._account(block_region(frame, line, chosen.label, body, chosen.extras), frame.f_code)

    def marker(self, function: Callable[..., object], account: Account) -> Marker:
        """A wrapper that runs `function` as that account's region."""
        return make_marker(account, function, self.settings.every)

    @property
    def last_run(self) -> Run | None:
        """The run of the function that was profiled last, None before the first."""
        runs = results_of(self._last) if self._last is not None else ()
        return runs[-1] if runs else None

    @property
    def profile_result(self) -> list[str] | None:
        """The last call's run in lines of text, None unless it succeeded. Reading asks for the result."""
        account, run = self._last, self.last_run
        if account is None or account.refused or run is None or run.info.error is not None:
            return None
        from profkit.session.results import is_lost
        from profkit.session.summary import summary_lines

        return None if is_lost(account) else summary_lines(run)

    @property
    def current_run_id(self) -> str | int | None:
        """The last call's run: a remote sampler's number, else the id that `profkit report` takes.

        None before the first call, and where the last one could not be profiled.
        """
        if self._last is None or self._last.refused or not self._last.sessions:
            return None
        from profkit.session.results import current_id

        return current_id(self._last)

    def _repr_html_(self) -> str | None:
        """The last run as notebooks show it, None before the first."""
        run = self.last_run
        return None if run is None else run._repr_html_()

    def _release_compile_hook(self) -> None:
        """PyTorch's hook stays busy for ever where a compilation raises; see its `profile_compile_time`."""
        module = sys.modules.get("torch._strobelight.compile_time_profiler")
        hook = getattr(module, "StrobelightCompileTimeProfiler", None)
        if hook is not None and hook.profiler is self:
            hook.inside_profile_compile_time = False

    def _account(self, region: Region, code: CodeType | None = None) -> Account:
        version = region.key, f"{region.code} {region.file}"
        account = self._accounts.get(version)
        if account is None:
            account = Account(region, self.settings.sampler, self.settings.policy, code)
            self._accounts[version] = account
        return account

    def _marker(self, function: Callable[..., object]) -> Marker:
        """The marker of a function that was handed over, kept by its code: a lambda is made anew."""
        code = code_of(function) if hasattr(function, "__code__") else None
        known = self._markers.get(code) if code is not None else None
        if known is None:
            account = self.account(function)
            known = account, self.marker(function, account)
            if code is not None:
                self._markers[code] = known
        self._last = known[0]
        return known[1]
