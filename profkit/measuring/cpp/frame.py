"""The C++ that stands around the user's own lines."""

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
/// Make the compiler believe that `value` is used, so that a block computes it every time.
template <class T> inline void keep(T const &value) { asm volatile("" : : "r,m"(value) : "memory"); }

namespace frame {
typedef const char *(*Block)(void *context, ::std::int64_t number);
typedef void (*Ready)(Block block, void *context);

// May touch all memory, as far as the compiler knows: the loop stays, and so does what it loads.
__attribute__((always_inline)) static inline void step(::std::int64_t &left) {
  asm volatile("" : : : "memory");
  --left;
}

static thread_local char said[16384];

static const char *say(const char *type, const char *what) {
  int status = 0;
  char *name = abi::__cxa_demangle(type, nullptr, nullptr, &status);
  ::std::snprintf(said, sizeof said, "%s: %s", status == 0 ? name : type, what);
  ::std::free(name);
  return said;
}

// What `body` throws, as text.
template <class Body> static const char *guarded(Body const &body) {
  try {
    body();
    return nullptr;
  } catch (::std::exception const &error) {
    return say(typeid(error).name(), error.what());
#ifdef __GLIBCXX__
  } catch (abi::__forced_unwind &) {  // the thread is being ended, which nothing may stop
    throw;
#endif
  } catch (...) {
    return say(abi::__cxa_current_exception_type()->name(), "no std::exception");
  }
}

template <class Loop> static const char *block(void *context, ::std::int64_t number) {
  return guarded([&] {
    ::std::int64_t left = number;
    (*static_cast<Loop *>(context))(left);
    if (left != 0) throw ::std::logic_error("the statement leaves the loop around it: it breaks or returns");
  });
}

template <class Loop> static void offer(Loop &loop, Ready ready) { ready(block<Loop>, &loop); }
}
}
"""
"""Before the user's lines; what it includes, a plain C++ statement need not."""

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
// The TorchScript that was saved ahead; this object holds the whole file.
inline ::torch::jit::Module scripted() {
  ::std::istringstream file(::std::string(profkit_script_begin, profkit_script_end));
  return ::torch::jit::load(file);
}
}
"""
"""For orders with TorchScript: its file becomes part of the object. `PROFKIT_SCRIPT` is the file's path."""

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
    if (!done) throw ::std::logic_error("the setup returns; let it go on to its end");
  }});
}}
"""
"""One exported function; the body returns nothing, so that a `return` of the user's is noticed."""
