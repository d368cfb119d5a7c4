"""From an order to the C++ source of a shared object, and what that object exports.

    typedef const char *(*Block)(void *context, int64_t number);
    typedef void (*Ready)(Block block, void *context);
    extern "C" const char *profkit_measure(Ready ready);
    extern "C" const char *profkit_measure_empty(Ready ready);

`profkit_measure` runs the setup and calls `ready` once. Until that returns, `block(context, number)` executes
the statement `number` times, as often as wished, and from the same thread: the function that holds the
setup's variables and guards (`at::NoGradGuard`) is still active, and the statement sees them. Then they are
gone. `profkit_measure` and `block` answer null, or what was thrown, as text that is good until the thread
calls again.
`profkit_measure_empty` is the same without setup and statement: the cost of a block as such.

A guard in force is in force for the whole thread: objects that take turns in one process each need one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from profkit.measuring.cpp.frame import FUNCTION, PRELUDE, SCRIPT
from profkit.model.workorder import WorkOrder

STATEMENT, SETUP, GLOBAL_SETUP = "<stmt>", "<setup>", "<global_setup>"
"""Names under which compilers speak of the user's own lines."""
FRAME = "<profkit>"
"""And of those around them."""

ATEN = ("ATen/ATen.h", "ATen/core/grad_mode.h")
TENSORS = ("torch/types.h", "torch/utils.h")
ALL_OF_TORCH = ("torch/torch.h",)
TORCHSCRIPT = ("torch/script.h",)
"""Headers to begin with, each set with what the one before has; they compile in about 7, 8 and 20 s."""

_SPEAKS_OF_TORCH = re.compile(
    r"\b(?:at|c10|torch)\s*::|\bnamespace\s+(?:at|c10|torch)\b|\b(?:TORCH|AT|C10)_[A-Z]"
    r"|[<\"](?:ATen|c10|torch)/"
)
_NEEDS_ALL_OF_TORCH = re.compile(r"\bnamespace\s+torch\b|[<\"]torch/(?:torch|all|extension)\.h")
_NAME_IN_TORCH = re.compile(r"\btorch\s*::\s*(\w+)(\s*::)?")
_NAME_OF_TENSORS = re.compile(
    r"Tensor|TensorOptions|TensorList|Dtype|Device|DeviceType|Layout|MemoryFormat|Scalar|ScalarType"
    r"|NoGradGuard|AutoGradMode"
    r"|k(?:CPU|CUDA|Strided|(?:B?Float|U?Int|Half|Double|Long|Short|Char|Byte|Bool)\d*)"
    r"|(?!k[A-Z]|(?:save|load|pickle_save|pickle_load)$)[a-z]\w*"
)
"""What torch/types.h has of namespace torch: mostly functions, whose names begin with a small letter."""


@dataclass(frozen=True, slots=True)
class Source:
    """C++ of a shared object; equal sources make equal objects."""

    headers: tuple[str, ...]
    """Included ahead of `text`, and worth precompiling; none: torch is not needed."""
    text: str
    script: str = ""
    """Python that defines `model`, of which TorchScript becomes part of the object."""


def needs_torch(order: WorkOrder) -> bool:
    """Whether a C++ order needs torch's libraries; without, a zygote that imports nothing can load it."""
    return (
        bool(order.script) or "torch" in (order.imports or ()) or bool(_SPEAKS_OF_TORCH.search(_words(order)))
    )


def source_of(order: WorkOrder) -> Source:
    """The source of a C++ order."""
    parts = [
        PRELUDE,
        SCRIPT if order.script else "",
        own_lines(GLOBAL_SETUP, order.global_setup),
        FUNCTION.format(
            name="measure",
            setup=own_lines(SETUP, order.setup),
            stmt=own_lines(STATEMENT, order.stmt or ""),
        ),
        FUNCTION.format(name="measure_empty", setup="", stmt=""),
    ]
    return Source(_headers(order), "".join(parts), order.script)


def own_lines(name: str, text: str) -> str:
    """The user's text under its own name; what follows it starts on a new line, where no comment hides it."""
    return f'#line 1 "{name}"\n{text}\n#line 1 "{FRAME}"\n'


def include(headers: tuple[str, ...]) -> str:
    """The lines that include headers."""
    return "".join(f"#include <{name}>\n" for name in headers)


def _headers(order: WorkOrder) -> tuple[str, ...]:
    if not needs_torch(order):
        return ()
    script = TORCHSCRIPT if order.script else ()
    words = _words(order)
    named = _NAME_IN_TORCH.findall(words)
    if _NEEDS_ALL_OF_TORCH.search(words) or not all(_is_of_tensors(*found) for found in named):
        return (*ALL_OF_TORCH, *script)
    return (*(TENSORS if named else ATEN), *script)


def _is_of_tensors(name: str, inner: str) -> bool:
    return not inner and _NAME_OF_TENSORS.fullmatch(name) is not None


def _words(order: WorkOrder) -> str:
    return "\n".join((order.global_setup, order.setup, order.stmt or ""))
