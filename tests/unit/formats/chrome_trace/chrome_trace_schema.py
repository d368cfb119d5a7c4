"""The Trace Event Format as a JSON schema: its two forms, and of its events those that profiles need.

After "Trace Event Format" (Google, 2016): `name`, `ph`, `ts`, `pid` and `tid` are common to all events, `ts`
and `dur` count microseconds, an X event has a duration, M events name processes and threads in `args`, and a
sample names a stack frame that names its parent.
"""

from __future__ import annotations

_ID = {"type": ["integer", "string"]}
_TIME = {"type": "number", "minimum": 0}
_COMMON = {
    "name": {"type": "string"},
    "cat": {"type": "string"},
    "pid": _ID,
    "tid": _ID,
    "ts": _TIME,
    "args": {"type": "object"},
}


def _event(phase: str, required: list[str], **properties: object) -> dict[str, object]:
    return {
        "type": "object",
        "properties": {**_COMMON, "ph": {"const": phase}, **properties},
        "required": ["ph", "pid", "tid", *required],
    }


def _names(names: list[str], key: str, kind: str) -> dict[str, object]:
    args = {"type": "object", "properties": {key: {"type": kind}}, "required": [key]}
    return _event("M", ["name", "args"], name={"enum": names}, args=args)


_EVENTS = {
    "type": "array",
    "items": {
        "oneOf": [
            _event("B", ["name", "ts"]),
            _event("E", ["ts"]),
            _event("X", ["name", "ts", "dur"], dur=_TIME, tdur=_TIME),
            _names(["process_name", "process_labels", "thread_name"], "name", "string"),
            _names(["process_sort_index", "thread_sort_index"], "sort_index", "integer"),
        ]
    },
}

SCHEMA = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "oneOf": [
        _EVENTS,
        {
            "type": "object",
            "properties": {
                "traceEvents": _EVENTS,
                "displayTimeUnit": {"enum": ["ms", "ns"]},
                "otherData": {"type": "object"},
                "stackFrames": {
                    "type": "object",
                    "additionalProperties": {
                        "type": "object",
                        "properties": {
                            "name": {"type": "string"},
                            "category": {"type": "string"},
                            "parent": _ID,
                        },
                        "required": ["name"],
                    },
                },
                "samples": {"type": "array", "items": {"type": "object", "required": ["tid", "ts", "sf"]}},
            },
            "required": ["traceEvents"],
        },
    ],
}
