"""Kinds of callables, as programs see them: `callables.py GROUP`.

Prints for each kind what its calls return and raise, where its warnings and log records seem to come from,
what inspect says of it, whether it can be awaited, and how it is pickled and copied.
"""

from __future__ import annotations

import abc
import asyncio
import base64
import contextlib
import copy
import dataclasses
import enum
import functools
import inspect
import logging
import operator
import pickle
import re
import subprocess
import sys
import types
import typing
import warnings
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import cloudpickle

from profkit import profile

# mypy: ignore-errors


def note(value: object = None) -> object:
    """Warn and log on behalf of the callers, which is what libraries do to name the user's line."""
    for level in (1, 2, 3):
        warnings.warn(f"level {level}", DeprecationWarning, stacklevel=level)
        logging.warning("level %d", level, stacklevel=level)
    return value


def plain(a, b=2, *, c: int = 3) -> int:
    """Add."""
    return note(a + b + c)


def closure() -> Callable[..., Any]:
    seen = []

    def inner(value):
        seen.append(value)
        return note(len(seen))

    return inner


def recursive(n):
    return note(0) if n == 0 else 1 + recursive(n - 1)


def raising(value):
    note()
    raise ValueError(value)


def stopping():
    raise StopIteration(3)


def positional(a, /, b, *rest, **named):
    return note((a, b, rest, sorted(named)))


async def coroutine(value):
    note()
    await asyncio.sleep(0)
    return note(value)


async def failing_coroutine():
    await asyncio.sleep(0)
    raise KeyError("x")


def generator(n):
    note()
    for number in range(n):
        note((yield number))
    return "returned"


def delegating(n):
    return (yield from generator(n))


async def async_generator(n):
    for number in range(n):
        note()
        yield number


def old_coroutine():
    note()
    yield from asyncio.sleep(0).__await__()
    return note("old")


def managed():
    note()
    yield "inside"
    note()


async def async_managed():
    yield "inside"


class Called:
    def __call__(self, value):
        return note(value)

    def __repr__(self):
        return "Called()"


class Awaited:
    def __call__(self):
        return self

    def __await__(self):
        return coroutine(5).__await__()


async def drain(source):
    return [item async for item in source]


async def inside(manager):
    async with manager as value:
        return value


def drained(source):
    found = []
    while True:
        try:
            found.append(next(source))
        except StopIteration as end:
            return found, end.value


def thrown_into(source):
    next(source)
    try:
        source.throw(KeyError("thrown"))
    except KeyError as error:
        return repr(error), inspect.getgeneratorstate(source)


def sent_to(source):
    return next(source), source.send("sent"), source.close()


run = asyncio.run

FUNCTIONS = {
    "plain": (plain, lambda f: f(1)),
    "plain, by keywords": (plain, lambda f: f(b=1, a=5, c=7)),
    "plain, wrongly": (plain, lambda f: f()),
    "lambda": (lambda x: note(x * 2), lambda f: f(4)),
    "closure": (closure(), lambda f: (f("a"), f("b"))),
    "recursive": (recursive, lambda f: f(3)),
    "raising": (raising, lambda f: f("odd")),
    "stopping": (stopping, lambda f: f()),
    "positional": (positional, lambda f: f(1, 2, 3, x=4)),
    "made by exec": (None, lambda f: f(2)),
    "builtin": (len, lambda f: f([1, 2])),
    "method of a builtin type": (str.upper, lambda f: f("a")),
    "bound builtin": ("a,b".split, lambda f: f(",")),
    "partial": (functools.partial(plain, 1), lambda f: f(c=1)),
    "cached": (functools.lru_cache(plain), lambda f: (f(1), f(1))),
    "single dispatch": (functools.singledispatch(recursive), lambda f: f(2)),
    "item getter": (operator.itemgetter(1), lambda f: f("abc")),
    "method caller": (operator.methodcaller("upper"), lambda f: f("x")),
    "instance": (Called(), lambda f: f(6)),
    "bound method": (Called().__call__, lambda f: f(7)),
    "wrapping another": (functools.wraps(plain)(lambda *a: note(a)), lambda f: f(1)),
    "with attributes": (closure(), lambda f: (setattr(f, "rank", 3), f.rank, f("x"))),
}  # fmt: skip
namespace = {"note": note}
exec("def made(x):\n    return note(x ** 2)\n", namespace)
FUNCTIONS["made by exec"] = (namespace["made"], FUNCTIONS["made by exec"][1])

ASYNC = {
    "coroutine": (coroutine, lambda f: run(f(5))),
    "failing coroutine": (failing_coroutine, lambda f: run(f())),
    "coroutine, gathered": (coroutine, lambda f: run(gathered(f))),
    "generator": (generator, lambda f: drained(f(3))),
    "generator, thrown into": (generator, lambda f: thrown_into(f(3))),
    "generator, sent to": (generator, lambda f: sent_to(f(3))),
    "generator, delegating": (delegating, lambda f: drained(f(2))),
    "generator, in a for loop": (generator, lambda f: [note(item) for item in f(2)]),
    "async generator": (async_generator, lambda f: run(drain(f(3)))),
    "coroutine of a generator": (types.coroutine(old_coroutine), lambda f: run(awaited(f))),
    "instance that is awaited": (Awaited(), lambda f: run(awaited(f))),
    "partial of a coroutine": (functools.partial(coroutine, 8), lambda f: run(awaited(f))),
}


async def gathered(function):
    return await asyncio.gather(function(1), function(2))


async def awaited(function):
    return await function()


def decorated_again() -> Iterator[tuple[str, Any, Callable[[Any], Any]]]:
    """Kinds for which profkit's decorator is below another one."""
    yield "coroutine above", types.coroutine(profile(plain_copy(old_coroutine))), lambda f: run(awaited(f))
    yield "context manager above", contextlib.contextmanager(profile(plain_copy(managed))), enter
    yield "context manager below", profile(contextlib.contextmanager(managed)), enter
    yield (
        "async context manager",
        contextlib.asynccontextmanager(profile(plain_copy(async_managed))),
        lambda f: run(inside(f())),
    )
    yield (
        "cache above",
        functools.lru_cache(profile(plain_copy(plain))),
        lambda f: (f(1), f(1), f.cache_info()),
    )
    yield "wraps above", functools.wraps(plain)(profile(plain_copy(plain))), lambda f: f(1)
    yield "partial above", functools.partial(profile(plain_copy(plain)), 1), lambda f: f()
    yield "dispatch above", functools.singledispatch(profile(plain_copy(recursive))), lambda f: f(1)


def plain_copy(function):
    """A function of its own, which the decorator below may change."""
    made = types.FunctionType(
        function.__code__, globals(), function.__name__, function.__defaults__, function.__closure__
    )
    made.__kwdefaults__, made.__doc__ = function.__kwdefaults__, function.__doc__
    return made


def enter(manager):
    with manager() as value:
        return value


class Base:
    @profile
    def method(self, x):
        return note((type(self).__name__, x))

    @profile
    @classmethod
    def class_below(cls, x):
        return note((cls.__name__, x))

    @classmethod
    @profile
    def class_above(cls, x):
        return note((cls.__name__, x))

    @profile
    @staticmethod
    def static_below(x):
        return note(x)

    @staticmethod
    @profile
    def static_above(x):
        return note(x)

    @property
    @profile
    def value(self):
        return note(1)

    @functools.cached_property
    @profile
    def cached(self):
        return note(2)

    @functools.singledispatchmethod
    @profile
    def dispatched(self, x):
        return note(("any", x))

    @dispatched.register
    @profile
    def _(self, x: int):
        return note(("int", x))

    part = functools.partialmethod(profile(plain_copy(positional)), 2)

    @profile
    async def waits(self):
        return await coroutine(type(self).__name__)

    @profile
    def steps(self):
        yield note(type(self).__name__)

    @profile
    def __call__(self, x):
        return note(("called", x))

    @profile
    def __len__(self):
        return 7

    @profile
    def __eq__(self, other):
        return note(True)

    __hash__ = None

    @profile
    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return note(("missing", name))

    @profile
    def __enter__(self):
        return note("entered")

    @profile
    def __exit__(self, *error):
        note()

    @abc.abstractmethod
    @profile
    def abstract(self):
        return note(3)

    def __init_subclass__(cls, **named):
        super().__init_subclass__(**named)


class Derived(Base):
    @profile
    def __new__(cls):
        return super().__new__(cls)

    @profile
    def __init__(self):
        self.built = note(True)

    @profile
    def method(self, x):
        return "derived", super().method(x)


@dataclasses.dataclass
class Data:
    n: int

    @profile
    def double(self):
        return note(self.n * 2)


class Colour(enum.Enum):
    RED = 1

    @profile
    def shout(self):
        return note(self.name)


class Pair(typing.NamedTuple):
    a: int

    @profile
    def first(self):
        return note(self.a)


METHODS = {
    "method": lambda o: o.method(1), "inherited": lambda o: Base.method(o, 2),
    "class method below": lambda o: (o.class_below(1), Derived.class_below(2)),
    "class method above": lambda o: (o.class_above(1), Derived.class_above(2)),
    "static method below": lambda o: (o.static_below(1), Base.static_below(2)),
    "static method above": lambda o: (o.static_above(1), Base.static_above(2)),
    "property": lambda o: o.value, "cached property": lambda o: (o.cached, o.cached),
    "single dispatch": lambda o: (o.dispatched(1), o.dispatched("x")), "partial": lambda o: o.part(3, y=4),
    "coroutine": lambda o: run(awaited(o.waits)), "generator": lambda o: list(o.steps()),
    "call": lambda o: o(5), "length": len, "equality": lambda o: o == 1, "missing": lambda o: o.nowhere,
    "with": lambda o: enter(lambda: o), "abstract": lambda o: o.abstract(), "built": lambda o: o.built,
    "data class": lambda _: Data(4).double(), "enumeration": lambda _: Colour.RED.shout(),
    "named tuple": lambda _: Pair(9).first(),
    "is a method": lambda o: [inspect.ismethod(o.method), inspect.isfunction(Base.method)],
    "is a class method": lambda _: [
        type(Base.__dict__[name]).__mro__[-2].__name__ for name in ("class_below", "static_below")
    ],
    "equal": lambda o: (o.method == o.method, Base.method is Base.method, hash(o.method) == hash(o.method)),
    "pickled instance": lambda _: pickle.loads(pickle.dumps(Data(3))).double(),
    "pickled method": lambda _: pickle.loads(pickle.dumps(Data(3).double))(),
    "class in another process": lambda _: elsewhere(lambda: Sent(3).double()),
    "class method elsewhere": lambda _: elsewhere(lambda: (Sent.make(4).double(), Sent.add(1, 2))),
}  # fmt: skip


class Sent:
    """A class of `__main__`, which is sent with its code."""

    def __init__(self, n):
        self.n = n

    @profile
    def double(self):
        return self.n * 2

    @profile
    @classmethod
    def make(cls, n):
        return cls(n)

    @profile
    @staticmethod
    def add(a, b):
        return a + b


def elsewhere(function: Callable[[], object]) -> str:
    """What a function gives in another process, as loky, Dask and Ray send it."""
    code = "import base64, pickle, sys\nprint(pickle.loads(base64.b64decode(sys.stdin.read()))())"
    sent = base64.b64encode(cloudpickle.dumps(function)).decode()
    done = subprocess.run(
        [sys.executable, "-c", code], input=sent, capture_output=True, text=True, check=False
    )
    return done.stdout or done.stderr.splitlines()[-1]


PROBES: dict[str, Callable[[Any], object]] = {
    "coroutine function": inspect.iscoroutinefunction,
    "generator function": inspect.isgeneratorfunction,
    "async generator function": inspect.isasyncgenfunction,
    "function": lambda f: isinstance(f, types.FunctionType),
    "name": lambda f: (f.__name__, f.__qualname__, f.__module__, f.__doc__),
    "signature": lambda f: str(inspect.signature(f)),
    "hints": typing.get_type_hints,
    "defaults": lambda f: (f.__defaults__, f.__kwdefaults__),
    "copied": lambda f: (copy.copy(f) is f, copy.deepcopy(f) is f),
    "hashed": lambda f: (hash(f) == hash(f), f == f, f in {f}),
    "weak": lambda f: weakref.ref(f)() is f,
    "source": lambda f: inspect.getsource(f).strip().splitlines()[0],
}


class Records(logging.Handler):
    def emit(self, record):
        seen.append(f"log {record.getMessage()} at {record.funcName}:{record.lineno}")


seen: list[str] = []
ADDRESS = re.compile(r"<[^<>]* at 0x[0-9a-f]+[^<>]*>")
"""What shows an object's address. Decorated ones are shown as what they are."""
OF_FUNCTIONS = ("copied", "weak", "source")
"""Probes of functions alone: another decorated object is copied as a function is, which has no state."""


def shown(message, category, filename, lineno, file=None, line=None):
    place = "the program" if filename == __file__ else filename.rpartition("/")[2]
    seen.append(f"{category.__name__} {message} at {place}:{lineno}")


def outcome(call: Callable[[], object]) -> str:
    try:
        said = repr(call())
    except Exception as error:  # noqa: BLE001 - shown
        said = f"{type(error).__name__}: {error}"
    return ADDRESS.sub("", said)


def show(name: str, function: Any, call: Callable[[Any], object], probed: bool = True) -> None:
    seen.clear()
    print(name, "->", outcome(lambda: call(function)))
    for line in seen:
        print("   ", line)
    for what, probe in PROBES.items() if probed else ():
        if what in OF_FUNCTIONS and not isinstance(function, types.FunctionType):
            continue
        print("   ", what, outcome(lambda probe=probe: probe(function)))


if __name__ == "__main__":
    logging.basicConfig(handlers=[Records()])
    warnings.showwarning = shown
    warnings.simplefilter("always")
    if sys.argv[1] == "methods":
        for kind, use in METHODS.items():
            show(kind, Derived(), use, probed=False)
    elif sys.argv[1] == "again":
        for kind, made, use in decorated_again():
            show(kind, made, use)
    else:
        for kind, (made, use) in {"functions": FUNCTIONS, "async": ASYNC}[sys.argv[1]].items():
            show(kind, profile(made), use)
