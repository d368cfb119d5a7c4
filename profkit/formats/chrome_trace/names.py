"""The function that an event stands for: tracers write its place into the name, or into `args`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from profkit.model.profile import Frame

_LINE = re.compile(r"\d+")
# `torch/nn/modules/module.py(1500): _call_impl`, as torch.profiler writes it with stacks.
_IN_FRONT = re.compile(r"(.+\.py)\((\d+)\): (.+)", re.DOTALL)


def frame_of(event: Mapping[str, object]) -> Frame:
    """The frame of an event: `args` with a line say where it is, else its name may."""
    name = event.get("name")
    args = event.get("args")
    text = name if isinstance(name, str) else ""
    if isinstance(args, dict) and not args.keys().isdisjoint(("file", "line")):
        file, line = args.get("file", args.get("filename")), args.get("line")
        return Frame(text, file if isinstance(file, str) else "", line if isinstance(line, int) else 0)
    return frame_named(text)


@lru_cache(1 << 16)
def frame_named(text: str) -> Frame:
    """The frame that a name tells, with its place where it tells that too."""
    # `fib (/home/ann/app.py:3)`, as viztracer writes it.
    head, _, line = text.removesuffix(")").rpartition(":")
    opened = head.find(" (", 1)
    if text.endswith(")") and 0 < opened < len(head) - 2 and _LINE.fullmatch(line):
        return Frame(head[:opened], head[opened + 2 :], int(line))
    if match := _IN_FRONT.fullmatch(text):
        return Frame(match[3], match[1], int(match[2]))
    return Frame(text, "", 0)
