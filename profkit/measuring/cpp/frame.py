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
#include <time.h>

namespace profkit {
/// Make the compiler believe that `value` is used, so that a block computes it every time.
template <class T> inline void keep(T const &value) { asm volatile("" : : "r,m"(value) : "memory"); }

namespace frame {
typedef ::std::int64_t (*Next)(::std::int64_t);
typedef void (*Hook)();
typedef void (*Body)(Next, Hook, Hook, bool *);

static inline ::std::int64_t now() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return ::std::int64_t(time.tv_sec) * 1000000000 + time.tv_nsec;
}

// May touch all memory, as far as the compiler knows: the loop stays, and so does what it loads.
__attribute__((always_inline)) static inline void step(::std::int64_t &left) {
  asm volatile("" : : : "memory");
  --left;
}

static inline void check_end(::std::int64_t left) {
  if (left != 0) throw ::std::logic_error("the statement leaves the loop that repeats it; it must not break");
}

static thread_local char said[16384];

static const char *say(const char *type, const char *what) {
  int status = 0;
  char *name = abi::__cxa_demangle(type, nullptr, nullptr, &status);
  ::std::snprintf(said, sizeof said, "%s: %s", status == 0 ? name : type, what);
  ::std::free(name);
  return said;
}

static const char *guarded(Body body, Next next, Hook before, Hook after) {
  try {
    bool done = false;
    body(next, before, after, &done);
    return done ? nullptr : "the setup or the statement returns; let it go on to its end";
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
}
}
"""
"""Before the user's lines; what it includes, a plain C++ statement need not."""

FUNCTION = r"""
static void profkit_{name}_body(::profkit::frame::Next profkit_next, ::profkit::frame::Hook profkit_before,
                                ::profkit::frame::Hook profkit_after, bool *profkit_done) {{
{setup};
  ::std::int64_t profkit_spent = -1;
  for (::std::int64_t profkit_left; (profkit_left = profkit_next(profkit_spent)) > 0;) {{
    const ::std::int64_t profkit_start = ::profkit::frame::now();
    if (profkit_before) profkit_before();
    for (; profkit_left > 0; ::profkit::frame::step(profkit_left)) {{
{stmt};
    }}
    if (profkit_after) profkit_after();
    profkit_spent = ::profkit::frame::now() - profkit_start;
    ::profkit::frame::check_end(profkit_left);
  }}
  *profkit_done = true;
}}

extern "C" __attribute__((visibility("default"))) const char *
profkit_{name}(::profkit::frame::Next next, ::profkit::frame::Hook before, ::profkit::frame::Hook after) {{
  return ::profkit::frame::guarded(profkit_{name}_body, next, before, after);
}}
"""
"""One exported function; the body returns nothing, so that a `return` of the user's is noticed."""
