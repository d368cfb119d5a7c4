"""Events of torch.profiler's traces (Chrome's format) as a table of operators, ranges, kernels and lanes.

Events of one thread are nested by their times. A kernel belongs to the operator with its external id, which
is the one that launched it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from profkit.model.trace import Kernel, Lane, Operator, Range, Trace

_OPERATOR, _RANGE = "cpu_op", "user_annotation"
_DEVICE = ("kernel", "gpu_memcpy", "gpu_memset")
_SLICES = 60
_EXTERNAL, _SHAPES, _DEVICE_NUMBER, _STREAM = "External id", "Input Dims", "device", "stream"

Json = Mapping[str, object]


@dataclass(slots=True)
class _Event:
    """A complete event; times are in nanoseconds from any origin."""

    name: str
    category: str
    place: tuple[str, str]
    """Process and thread of an operator, device and stream of a kernel."""
    start_ns: int
    end_ns: int
    arguments: Json
    children_ns: int = 0
    """Time of the operators directly inside."""
    own_device_ns: int = 0
    device_ns: int = 0
    parent: _Event | None = None

    @property
    def duration_ns(self) -> int:
        return self.end_ns - self.start_ns


@dataclass(slots=True)
class _Sums:
    calls: int = 0
    own_ns: int = 0
    total_ns: int = 0
    own_device_ns: int = 0
    device_ns: int = 0


@dataclass(slots=True)
class _Tables:
    operators: defaultdict[tuple[str, str], _Sums] = field(default_factory=lambda: defaultdict(_Sums))
    ranges: defaultdict[str, _Sums] = field(default_factory=lambda: defaultdict(_Sums))
    kernels: defaultdict[tuple[str, str], _Sums] = field(default_factory=lambda: defaultdict(_Sums))
    devices: set[str] = field(default_factory=set)
    busy_ns: int = 0


def sum_up_traces(traces: Sequence[Sequence[Json]]) -> Trace:
    """Return the sums over the traces of several calls, given as their events, oldest first.

    Raises ValueError if an event is not valid, or if there are no traces.
    """
    if not traces:
        raise ValueError("there are no traces")
    tables, span_ns = _Tables(), 0
    for number, trace in enumerate(traces):
        events = _events(trace)
        _relate(events)
        _add(events, tables)
        spans = _spans(events)
        span_ns += spans[1] - spans[0]
        if number == len(traces) - 1:
            lanes, last = _lanes(events, trace, spans), spans[1] - spans[0]
    return Trace(
        calls=len(traces),
        span_ns=span_ns,
        operators=_operators(tables.operators),
        ranges=tuple(
            Range(name, one.calls, one.total_ns, one.device_ns) for name, one in tables.ranges.items()
        ),
        kernels=tuple(
            sorted(
                (Kernel(name, kind, one.calls, one.total_ns) for (name, kind), one in tables.kernels.items()),
                key=lambda kernel: (-kernel.total_ns, kernel.name),
            )
        ),
        lanes=lanes,
        last_span_ns=last,
        devices=len(tables.devices),
        device_busy_ns=tables.busy_ns,
    )


def _events(trace: Iterable[Json]) -> list[_Event]:
    found = [_event(event) for event in trace if event.get("ph") == "X" and event.get("cat") in _CATEGORIES]
    return sorted(found, key=lambda event: (event.place, event.start_ns, -event.end_ns))


_CATEGORIES = frozenset((_OPERATOR, _RANGE, *_DEVICE))


def _event(event: Json) -> _Event:
    start, duration, arguments = event.get("ts"), event.get("dur", 0), event.get("args", {})
    if not isinstance(start, int | float) or not isinstance(duration, int | float) or duration < 0:
        raise ValueError(f"event {event.get('name')!r} has no valid times")
    if not isinstance(arguments, Mapping):
        raise ValueError(f"event {event.get('name')!r} has no valid arguments")
    category = str(event.get("cat"))
    place = (event.get("pid"), event.get("tid"))
    if category in _DEVICE:
        place = (arguments.get(_DEVICE_NUMBER, place[0]), arguments.get(_STREAM, place[1]))
    start_ns = round(start * 1000)
    return _Event(
        name=str(event.get("name")),
        category=category,
        place=(str(place[0]), str(place[1])),
        start_ns=start_ns,
        end_ns=start_ns + round(duration * 1000),
        arguments=arguments,
    )


def _relate(events: Sequence[_Event]) -> None:
    """Set the parent of each operator and range, and give operators the times of their kernels."""
    by_id: dict[object, _Event] = {}
    open_events: list[_Event] = []
    for event in events:
        if event.category in _DEVICE:
            continue
        while open_events and (
            open_events[-1].place != event.place or open_events[-1].end_ns <= event.start_ns
        ):
            open_events.pop()
        event.parent = open_events[-1] if open_events else None
        open_events.append(event)
        if event.category == _OPERATOR:
            by_id[event.arguments.get(_EXTERNAL)] = event
            outer = _outer_operator(event)
            if outer is not None:
                outer.children_ns += event.duration_ns
    for event in events:
        if event.category in _DEVICE and (launcher := by_id.get(event.arguments.get(_EXTERNAL))) is not None:
            launcher.own_device_ns += event.duration_ns
            above: _Event | None = launcher
            while above is not None:
                above.device_ns += event.duration_ns
                above = above.parent


def _outer_operator(event: _Event) -> _Event | None:
    above = event.parent
    while above is not None and above.category != _OPERATOR:
        above = above.parent
    return above


def _add(events: Iterable[_Event], tables: _Tables) -> None:
    by_device: defaultdict[str, list[_Event]] = defaultdict(list)
    for event in events:
        if event.category == _OPERATOR:
            sums = tables.operators[event.name, _shapes(event.arguments.get(_SHAPES))]
        elif event.category == _RANGE:
            sums = tables.ranges[event.name]
        else:
            sums = tables.kernels[event.name, event.category]
            by_device[event.place[0]].append(event)
        sums.calls += 1
        sums.own_ns += max(0, event.duration_ns - event.children_ns)
        sums.total_ns += 0 if _is_within_itself(event) else event.duration_ns
        sums.own_device_ns += event.own_device_ns
        sums.device_ns += 0 if _is_within_itself(event) else event.device_ns
    tables.devices.update(by_device)
    tables.busy_ns += sum(end - start for on_device in by_device.values() for start, end in _union(on_device))


def _is_within_itself(event: _Event) -> bool:
    """Return whether an event is inside another of its name, whose time includes its own."""
    above = event.parent
    while above is not None:
        if (above.name, above.category) == (event.name, event.category):
            return True
        above = above.parent
    return False


def _shapes(dimensions: object) -> str:
    """Return the shapes of inputs that have one: those of numbers and lists are empty."""
    found = dimensions if isinstance(dimensions, list) else []
    return " ".join(str(one) for one in found if isinstance(one, list) and one)


def _union(events: Iterable[_Event]) -> list[tuple[int, int]]:
    """Return the times in which at least one of the events ran, in order and without overlap."""
    merged: list[tuple[int, int]] = []
    for event in sorted(events, key=lambda one: one.start_ns):
        if merged and event.start_ns <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], event.end_ns))
        else:
            merged.append((event.start_ns, event.end_ns))
    return merged


def _spans(events: Sequence[_Event]) -> tuple[int, int]:
    return min((e.start_ns for e in events), default=0), max((e.end_ns for e in events), default=0)


def _operators(sums: Mapping[tuple[str, str], _Sums]) -> tuple[Operator, ...]:
    rows = [
        Operator(name, shapes, one.calls, one.own_ns, one.total_ns, one.own_device_ns, one.device_ns)
        for (name, shapes), one in sums.items()
    ]
    return tuple(sorted(rows, key=lambda row: (-row.self_cpu_ns, row.name, row.shapes)))


def _lanes(events: Sequence[_Event], trace: Iterable[Json], spans: tuple[int, int]) -> tuple[Lane, ...]:
    groups: defaultdict[tuple[bool, tuple[str, str]], list[_Event]] = defaultdict(list)
    for event in events:
        if event.category != _RANGE:
            groups[event.category in _DEVICE, event.place].append(event)
    names = _thread_names(trace)
    return tuple(
        Lane(
            name=f"device {place[0]} stream {place[1]}"
            if is_device
            else names.get(place, f"thread {place[1]}"),
            is_device=is_device,
            busy_ns=sum(end - start for start, end in _union(group)),
            busy=_slices(_union(group), spans),
        )
        for (is_device, place), group in sorted(groups.items())
    )


def _thread_names(trace: Iterable[Json]) -> dict[tuple[str, str], str]:
    names = {}
    for event in trace:
        if event.get("ph") == "M" and event.get("name") == "thread_name":
            arguments = event.get("args")
            name = str(arguments.get("name")) if isinstance(arguments, Mapping) else ""
            names[str(event.get("pid")), str(event.get("tid"))] = name
    return names


def _slices(busy: Sequence[tuple[int, int]], spans: tuple[int, int]) -> tuple[float, ...]:
    width = (spans[1] - spans[0]) / _SLICES
    if width <= 0:
        return ()
    parts = [0.0] * _SLICES
    for start, end in busy:
        first, last = (start - spans[0]) / width, (end - spans[0]) / width
        for number in range(int(first), min(_SLICES, int(last) + 1)):
            parts[number] += max(0.0, min(last, number + 1) - max(first, number))
    return tuple(round(min(1.0, part), 4) for part in parts)
