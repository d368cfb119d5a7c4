"""Lines of the program at which coroutines are suspended; which suspensions are looked at.

To follow a chain of awaits takes about a microsecond, so not each of very many suspensions is looked at.
"""

from __future__ import annotations

import gc
from _random import Random  # `random` takes milliseconds to import
from collections.abc import Iterable
from types import AsyncGeneratorType, CodeType, CoroutineType, FrameType, GeneratorType
from typing import TYPE_CHECKING

from profkit.model.region import readable
from profkit.process.guard import ignore

if TYPE_CHECKING:
    from profkit.model.session import AwaitTime

_AWAITING = (CoroutineType, GeneratorType, AsyncGeneratorType)
_HOLDERS = frozenset(
    {"async_generator_asend", "async_generator_athrow", "anext_awaitable", "coroutine_wrapper"}
)
"""Types that run a coroutine or generator, and do not say which one."""
_ENTERING = ".__aenter__"
"""Python calls it; what it awaits is what the program knows."""
_YIELD = "yield"
"""Name shown for a generator that yields itself instead of awaiting something."""
_GATHERING, _GATHER = "_GatheringFuture", "gather"
_MOST_CODES = 4096
_LOOKS = 1000
"""Looks after which the threshold is doubled; each second it is halved."""
_FIRST_THRESHOLD_NS = 20_000
_DEEPEST = 1000


class Place:
    """Line of a function that awaits something; equal only to itself."""

    __slots__ = ("awaited", "code", "line")

    def __init__(self, code: CodeType, line: int, awaited: str) -> None:
        self.code, self.line, self.awaited = code, line, awaited


Awaits = dict[Place, list[float]]
"""Nanoseconds for which a run was suspended, and how often, by place."""


_RANDOM = Random()


class AwaitLooks:
    """Chooses suspensions of a region to look at: all, or those above a threshold and a part of the others.

    Below the threshold, half as long means half as likely. One that is chosen counts for as long as the
    threshold, which makes up for those that are not.
    """

    __slots__ = ("_left", "random", "threshold_ns")

    def __init__(self) -> None:
        self.random = _RANDOM.random
        self.threshold_ns = 0
        self._left = _LOOKS

    def count(self, root: object, awaits: Awaits, suspended_ns: int) -> None:
        """Count a chosen suspension of `root`, which is not resumed yet."""
        place = place_of(root)
        if place is not None:
            counted_ns = max(suspended_ns, self.threshold_ns)
            spent = awaits.get(place) or awaits.setdefault(place, [0, 0])
            spent[0] += counted_ns
            spent[1] += counted_ns / max(1, suspended_ns)
        self._left -= 1
        if self._left <= 0:
            self.threshold_ns, self._left = max(2 * self.threshold_ns, _FIRST_THRESHOLD_NS), _LOOKS

    def renew(self) -> None:
        """Allow more looks; called once a second."""
        half_ns = self.threshold_ns // 2
        self.threshold_ns, self._left = half_ns if half_ns >= _FIRST_THRESHOLD_NS else 0, _LOOKS


_CODES: dict[int, dict[int, Place] | None] = {}
"""Places by the identity of their code and the offset of the instruction; None for code of libraries."""
_OF_LIBRARIES: dict[int, dict[int, Place]] = {}
"""The same for places in code of libraries."""
_KEPT: dict[int, CodeType] = {}
"""All this code, kept alive so that no identity is reused."""
_NEW: dict[int, Place] = {}
"""Places of code that is not known yet; always empty."""
_ENDS: dict[type, None] = {type(None): None}
"""Types of objects that await nothing further, such as iterators of futures."""


def place_of(root: object) -> Place | None:
    """Return the innermost line of the program at which a coroutine or an async generator is suspended.

    If all frames are those of libraries, return the outermost one's line. None if it is not suspended.
    """
    chain: list[CoroutineType[object, object, object]] = []
    inner = root
    while type(inner) is CoroutineType:
        chain.append(inner)
        inner = inner.cr_await
    if type(inner) in _ENDS or _is_end(inner):
        for owner in reversed(chain):
            places = _CODES.get(id(owner.cr_code), _NEW)
            if places is not None:
                frame = owner.cr_frame
                place = None if frame is None else places.get(frame.f_lasti)
                if place is not None:
                    return place
                break
    return _new_place(root)


def await_times(runs: Iterable[Awaits]) -> tuple[AwaitTime, ...]:
    """Add up what several runs have counted."""
    # Not needed to decorate a function.
    from profkit.model.session import AwaitTime
    from profkit.transforms.unsampled_time import add_awaits

    return add_awaits(
        AwaitTime(
            place.code.co_filename,
            place.line,
            readable(place.code.co_qualname),
            place.awaited,
            *map(round, spent),
        )
        for awaits in runs
        for place, spent in awaits.items()
    )


def _is_end(inner: object) -> bool:
    """Return whether this is a library's generator that yields by itself, such as that of `sleep(0)`."""
    if type(inner) is not GeneratorType or inner.gi_yieldfrom is not None:
        return False
    return _CODES.get(id(inner.gi_code), _NEW) is None


def _new_place(root: object) -> Place | None:
    """Return what `place_of` does, also for places that are not known yet."""
    try:
        return _searched(root)
    except Exception as error:  # noqa: BLE001 - logged; raised if it is the program's
        ignore(error, "looking for the line of an await")
        return None


def _searched(root: object) -> Place | None:
    chain: list[object] = []
    last = _follow(chain, root)
    awaited = last
    for owner in reversed(chain):
        frame = _frame_of(owner)
        if frame is None:  # another thread has just run it
            return None
        places = _places_in(frame.f_code)
        if places is not None:
            return _place(places, frame, awaited)
        awaited = owner
    return _of_libraries(chain, last)


def _follow(chain: list[object], inner: object) -> object:
    """Append what awaits to the chain, and return what is awaited last."""
    while len(chain) < _DEEPEST:
        kind = type(inner)
        if kind in _ENDS:
            return inner
        if kind in _AWAITING:
            chain.append(inner)
            inner = _awaited_by(inner)
        elif kind.__name__ in _HOLDERS:
            inner = next((one for one in gc.get_referents(inner) if type(one) in _AWAITING), None)
        else:
            _ENDS[kind] = None
    return inner


def _awaited_by(owner: object) -> object:
    if type(owner) is CoroutineType:
        return owner.cr_await
    return owner.gi_yieldfrom if type(owner) is GeneratorType else getattr(owner, "ag_await", None)


def _frame_of(owner: object) -> FrameType | None:
    if type(owner) is CoroutineType:
        return owner.cr_frame
    return owner.gi_frame if type(owner) is GeneratorType else getattr(owner, "ag_frame", None)


def _places_in(code: CodeType) -> dict[int, Place] | None:
    """Return the known places of code; None if it is a library's."""
    known = _CODES.get(id(code), _NEW)
    if known is not _NEW:
        return known
    from profkit.transforms.origin import OWN_CODE, is_library_file  # not needed to decorate a function

    if len(_CODES) >= _MOST_CODES:  # a program that makes code again and again, as by `exec`
        for table in (_CODES, _OF_LIBRARIES, _KEPT):
            table.clear()
    file = code.co_filename
    _KEPT[id(code)] = code
    return _CODES.setdefault(id(code), None if is_library_file(file) or OWN_CODE.holds(file) else {})


def _of_libraries(chain: list[object], last: object) -> Place | None:
    """Return the place of the outermost of these; of the innermost one if profkit calls a library."""
    from profkit.transforms.origin import OWN_CODE

    frames = [_frame_of(owner) for owner in chain]
    if not frames or frames[0] is None:
        return None
    index = len(chain) - 1 if OWN_CODE.holds(frames[0].f_code.co_filename) else 0
    frame = frames[index]
    if frame is None:
        return None
    return _place(_OF_LIBRARIES.setdefault(id(frame.f_code), {}), frame, [*chain, last][index + 1])


def _place(known: dict[int, Place], frame: FrameType, awaited: object) -> Place:
    offset = frame.f_lasti
    place = known.get(offset)
    if place is None:
        place = known.setdefault(offset, Place(frame.f_code, frame.f_lineno or 0, _name_of(awaited)))
    return place


def _name_of(awaited: object) -> str:
    """Return the name of the function that a coroutine or a task runs; of others, their type."""
    if awaited is None:
        return _YIELD
    name = getattr(awaited, "__qualname__", None)
    if name is None:
        return _name_of_future(awaited)
    inner = _awaited_by(awaited) if name.endswith(_ENTERING) else None
    return readable(getattr(inner, "__qualname__", name))


def _name_of_future(awaited: object) -> str:
    referents = [one for one in gc.get_referents(awaited) if not isinstance(one, type)]
    future = referents[0] if referents else awaited
    coroutine = getattr(future, "get_coro", lambda: None)()
    name = getattr(coroutine, "__qualname__", None) or type(future).__name__
    return _GATHER if name == _GATHERING else readable(name)
