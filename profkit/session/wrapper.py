"""What stands in a decorated function's place: a wrapt proxy that knows its region's runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, SupportsIndex

import wrapt

from profkit.session.account import Account

if TYPE_CHECKING:
    from profkit.model.run import Run
    from profkit.session.markers import Marker


class _Region:
    """What bound and unbound wrappers have in common; `_self_` names are wrapt's way to keep state."""

    _self_account: Account

    @property
    def runs(self) -> tuple[Run, ...]:
        """This process's runs of the function, oldest first; asking may end a sampler's segment."""
        from profkit.session.results import runs_of

        return runs_of(self._self_account)

    @property
    def last_run(self) -> Run | None:
        """The newest of `runs`, None before the first profiled call."""
        runs = self.runs
        return runs[-1] if runs else None

    def __copy__(self) -> _Region:
        return self

    def __deepcopy__(self, memo: dict[int, object]) -> _Region:
        return self


class BoundRegionWrapper(_Region, wrapt.BoundFunctionWrapper):  # type: ignore[type-arg]
    """A decorated method on its way to being called."""

    def __reduce_ex__(self, protocol: SupportsIndex) -> tuple[Callable[..., Any], tuple[object, str]]:
        owner = self._self_owner if self._self_instance is None else self._self_instance
        return getattr, (owner, self.__wrapped__.__name__)


class RegionWrapper(_Region, wrapt.FunctionWrapper):  # type: ignore[type-arg]
    """A decorated function; pickles by name, as functions do."""

    __bound_function_wrapper__ = BoundRegionWrapper

    def __init__(self, wrapped: Callable[..., Any], marker: Marker, account: Account) -> None:
        super().__init__(wrapped, marker)
        self._self_account = account

    def __reduce_ex__(self, protocol: SupportsIndex) -> str:
        return str(self.__wrapped__.__qualname__)
