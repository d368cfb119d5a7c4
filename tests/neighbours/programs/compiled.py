"""Profiled functions without Python frames of their own: `compiled.py SCENE`."""

from __future__ import annotations

import functools
import operator
import os
import sys
from pathlib import Path
from types import ModuleType

from profkit import profile

COUNT = 3_000_000


def numba_functions() -> None:
    """njit functions that are decorated, and one that a decorated Python function calls."""
    import numba

    def total(count: int) -> float:
        value = 0.0
        for number in range(count):
            value += number % 7 * 0.5
        return value

    jitted = numba.njit(total)
    decorated = profile(label="decorated njit", rate=100.0)(jitted)

    @profile(label="calls njit", rate=100.0)
    def outer(count: int) -> float:
        return jitted(count)

    jitted(1)  # compiles
    for _ in range(20):
        first, second = decorated(COUNT * 5), outer(COUNT * 5)
    print(first, second, decorated.py_func.__name__, decorated.signatures)

    @numba.njit
    def calls_another(count: int) -> float:
        return jitted(count) + 1

    print(profile(label="nested njit")(calls_another)(10))

    @profile(label="njit outside")
    @numba.vectorize(["float64(float64)"])
    def halved(value: float) -> float:
        return value / 2

    print(halved(3.0))


def numba_of_decorated() -> None:
    """Numba given a decorated function: it compiles what is wrapped, or says what it says without profkit."""
    import numba

    @profile(label="compiled away")
    def add(a: int, b: int) -> int:
        return a + b

    try:
        print(numba.njit(add)(1, 2))
    except Exception as error:  # noqa: BLE001 - whatever it is, it is to be the same
        print(type(error).__name__, str(error).splitlines()[0])


CYTHON = """
def total(long count):
    cdef double value = 0.0
    cdef long number
    for number in range(count):
        value += number % 7 * 0.5
    return value

def items(count):
    for number in range(count):
        yield number

async def answer(value):
    return value

cdef class Counter:
    cdef public long count
    def __init__(self):
        self.count = 0
    def up(self, long by=1):
        self.count += by
        return self.count

def calls(function, *arguments):
    return function(*arguments)
"""


def build() -> None:
    """Compile Cython modules in the current folder."""
    from Cython.Build.Cythonize import main as cythonize

    for binding in (True, False):
        source = f"# cython: language_level=3, binding={binding}\n{CYTHON}"
        Path(f"compiled_{binding}.pyx").write_text(source)
    cythonize(["-i", "-q", "-j", "2", "compiled_True.pyx", "compiled_False.pyx"])


def compiled(binding: bool) -> ModuleType:
    """Import a module that `build` made."""
    import importlib

    sys.path.insert(0, os.environ["COMPILED"])
    return importlib.import_module(f"compiled_{binding}")


def cython_functions() -> None:
    """Functions of a Cython module, with and without binding, decorated and called by what is decorated."""
    import asyncio

    for binding in (True, False):
        module = compiled(binding)
        decorated = profile(label=f"total binding={binding}", rate=100.0)(module.total)
        for _ in range(20):
            value = decorated(COUNT * 10)
        print(value, decorated.__name__, decorated.__module__)
        print(list(profile(label="items")(module.items)(3)))
        print(asyncio.run(profile(label="answer")(module.answer)(4)))
        counter = module.Counter()
        print(profile(label="up")(counter.up)(2), profile(label="Counter.up")(module.Counter.up)(counter, 3))

        @profile(label="called back")
        def called_back(value: int) -> int:
            return value + 1

        print(module.calls(called_back, 5))


def c_callables() -> None:
    """Built-in functions, partial objects, operators and classes' instances."""
    size = profile(label="len")(len)
    ordered = profile(label="sorted", rate=100.0)(sorted)
    added = profile(label="partial")(functools.partial(operator.add, 3))
    getter = profile(label="itemgetter")(operator.itemgetter(1))
    values = list(range(200_000, 0, -1))
    values = [value * 7919 % 200_003 for value in values]
    for _ in range(20):
        result = ordered(values)
    print(size("abc"), result[:2], added(4), getter([5, 6]))


def native() -> None:
    """Frames of compiled code where they are asked for."""
    module = compiled(True)
    total = profile(label="native", native=True, rate=100.0)(module.total)
    for _ in range(30):
        total(COUNT * 3)
    print("done")


if __name__ == "__main__":
    globals()[sys.argv[1]]()
