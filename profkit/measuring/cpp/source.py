"""C++ source of a shared object: the template with an order's lines, and which headers it includes."""

from __future__ import annotations

import re
from dataclasses import dataclass

from profkit.model.workorder import WorkOrder

PRELUDE = r"""
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string>
#include <typeinfo>
#include <vector>

#include <cxxabi.h>

namespace profkit {
/// Keep the compiler from optimizing away the computation of `value`.
template <class T> inline void keep(T const &value) { asm volatile("" : : "r,m"(value) : "memory"); }

namespace frame {
typedef const char *(*Block)(void *context, ::std::int64_t number);
typedef void (*Ready)(Block block, void *context);

// Count down. The compiler assumes that this accesses all memory, so it keeps the loop and its loads.
__attribute__((always_inline)) static inline void step(::std::int64_t &left) {
  asm volatile("" : : : "memory");
  --left;
}

static thread_local char message[16384];

static const char *describe(const char *type, const char *what) {
  int status = 0;
  char *name = abi::__cxa_demangle(type, nullptr, nullptr, &status);
  ::std::snprintf(message, sizeof message, "%s: %s", status == 0 ? name : type, what);
  ::std::free(name);
  return message;
}

// Return the exception that `body` throws as text, or nullptr.
template <class Body> static const char *guarded(Body const &body) {
  try {
    body();
    return nullptr;
  } catch (::std::exception const &error) {
    return describe(typeid(error).name(), error.what());
#ifdef __GLIBCXX__
  } catch (abi::__forced_unwind &) {  // the thread is being cancelled
    throw;
#endif
  } catch (...) {
    return describe(abi::__cxa_current_exception_type()->name(), "no std::exception");
  }
}

template <class Loop> static const char *block(void *context, ::std::int64_t number) {
  return guarded([&] {
    ::std::int64_t left = number;
    (*static_cast<Loop *>(context))(left);
    if (left != 0) throw ::std::logic_error("the statement leaves its loop; remove its break or return");
  });
}

template <class Loop> static void offer(Loop &loop, Ready ready) { ready(block<Loop>, &loop); }
}
}
"""
"""Text before the user's lines; plain C++ statements need not repeat its includes."""

SCRIPT = r"""
#include <sstream>

asm(".pushsection .rodata\n"
    "profkit_script_begin:\n"
    ".incbin \"" PROFKIT_SCRIPT "\"\n"
    "profkit_script_end:\n"
    ".byte 0\n"
    ".popsection");
extern "C" __attribute__((visibility("hidden"))) const char profkit_script_begin[], profkit_script_end[];

namespace profkit {
// Load the TorchScript file that is embedded in this object.
inline ::torch::jit::Module scripted() {
  ::std::istringstream file(::std::string(profkit_script_begin, profkit_script_end));
  return ::torch::jit::load(file);
}
}
"""
"""Text that embeds a TorchScript file in the object. `PROFKIT_SCRIPT` is the file's path."""

FUNCTION = r"""
static void profkit_{name}_body(::profkit::frame::Ready profkit_ready, bool &profkit_done) {{
{setup};
  auto profkit_loop = [&](::std::int64_t &profkit_left) -> void {{
    for (; profkit_left > 0; ::profkit::frame::step(profkit_left)) {{
{stmt};
    }}
  }};
  ::profkit::frame::offer(profkit_loop, profkit_ready);
  profkit_done = true;
}}

extern "C" __attribute__((visibility("default"))) const char *
profkit_{name}(::profkit::frame::Ready ready) {{
  return ::profkit::frame::guarded([&] {{
    bool done = false;
    profkit_{name}_body(ready, done);
    if (!done) throw ::std::logic_error("the setup returns early; remove its return");
  }});
}}
"""
"""One exported function; the body sets a flag at its end, so that a `return` of the user's is detected."""


STATEMENT, SETUP, GLOBAL_SETUP = "<stmt>", "<setup>", "<global_setup>"
"""Names for the user's lines in compilers' messages."""
FRAME = "<profkit>"
"""Name for the lines around them."""

ATEN = ("ATen/ATen.h", "ATen/core/grad_mode.h")
TENSORS = ("torch/types.h", "torch/utils.h")
ALL_OF_TORCH = ("torch/torch.h",)
TORCHSCRIPT = ("torch/script.h",)
"""Headers to include first, each set with those of the one before; they compile in about 7, 8 and 20 s."""

_USES_TORCH = re.compile(
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
"""Names of namespace torch in torch/types.h: mostly functions, whose names begin with a small letter."""


@dataclass(frozen=True, slots=True)
class Source:
    """C++ of a shared object; equal sources give equal objects."""

    headers: tuple[str, ...]
    """Included before `text`, and worth precompiling; empty if torch is not needed."""
    text: str
    script: str = ""
    """Python that defines `model`, whose TorchScript becomes part of the object."""


def needs_torch(order: WorkOrder) -> bool:
    """Return whether a C++ order needs torch's libraries; if not, any zygote can load its object."""
    return bool(order.script) or "torch" in (order.imports or ()) or bool(_USES_TORCH.search(_code(order)))


def source_of(order: WorkOrder) -> Source:
    """Return the source of a C++ order."""
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
    """Return the user's text under its own name; the newline after it ends a `//` comment."""
    return f'#line 1 "{name}"\n{text}\n#line 1 "{FRAME}"\n'


def include(headers: tuple[str, ...]) -> str:
    """Return the lines that include headers."""
    return "".join(f"#include <{name}>\n" for name in headers)


def _headers(order: WorkOrder) -> tuple[str, ...]:
    if not needs_torch(order):
        return ()
    script = TORCHSCRIPT if order.script else ()
    code = _code(order)
    named = _NAME_IN_TORCH.findall(code)
    of_tensors = (not inner and _NAME_OF_TENSORS.fullmatch(name) for name, inner in named)
    if _NEEDS_ALL_OF_TORCH.search(code) or not all(of_tensors):
        return (*ALL_OF_TORCH, *script)
    return (*(TENSORS if named else ATEN), *script)


def _code(order: WorkOrder) -> str:
    return "\n".join((order.global_setup, order.setup, order.stmt or ""))
