"""What libraries ask of a function that happens to be decorated: `fidelity.py SCENE`.

Prints answers; they are the same whether `profile` decorates or, disabled, returns the function itself.
"""

from __future__ import annotations

import abc
import asyncio
import copy
import dataclasses
import enum
import functools
import gc
import inspect
import pickle
import sys
import types
import typing
import weakref
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from typing import Annotated, Any, Generic, NamedTuple, ParamSpec, Protocol, TypeVar

from profkit import profile

T = TypeVar("T")
P = ParamSpec("P")


@profile
def scale(value: int, *, by: float = 2.0, name: str | None = None) -> float:
    """Scale a value."""
    return value * by


@profile(label="coroutine")
async def fetch(url: str, retries: int = 3) -> bytes:
    """Fetch nothing."""
    await asyncio.sleep(0)
    return url.encode() * retries


@profile
def countdown(start: int) -> Iterator[int]:
    yield from range(start, 0, -1)


@profile
async def stream(count: int) -> AsyncIterator[int]:
    for number in range(count):
        yield number


class Base:
    @profile
    def method(self, x: int) -> str:
        """A method."""
        return f"{type(self).__name__}.method({x})"

    @classmethod
    @profile
    def inner_class_method(cls, x: int) -> str:
        return f"{cls.__name__}({x})"

    @profile
    @classmethod
    def outer_class_method(cls, x: int) -> str:
        return f"{cls.__name__}({x})"

    @staticmethod
    @profile
    def inner_static(x: int) -> int:
        return x + 1

    @profile
    @staticmethod
    def outer_static(x: int) -> int:
        return x + 2

    @property
    @profile
    def size(self) -> int:
        return 7

    @functools.cached_property
    @profile
    def cached(self) -> int:
        print("computed")
        return 8

    @profile
    def __call__(self, x: int) -> int:
        return -x

    @profile
    def __enter__(self) -> Base:
        return self

    @profile
    def __exit__(self, *error: object) -> None:
        print("left", error[0])

    @profile
    def __iter__(self) -> Iterator[int]:
        yield 1
        yield 2

    @profile
    def __getattr__(self, name: str) -> str:
        if name.startswith("__"):
            raise AttributeError(name)
        return f"made {name}"


class Child(Base):
    @profile
    def method(self, x: int) -> str:
        return super().method(x) + "!"


FUNCTIONS: list[Any] = [
    scale, fetch, countdown, stream, Base.method, Base.inner_class_method, Base.outer_class_method,
    Base.inner_static, Base.outer_static, Base().method, Child.method, Base.__call__,
]  # fmt: skip


def attributes() -> None:
    for function in FUNCTIONS:
        print(function.__name__, function.__qualname__, function.__module__, function.__doc__)
        print(function.__annotations__, function.__defaults__, function.__kwdefaults__)
        print(function.__code__.co_name, function.__code__.co_varnames, function.__globals__ is globals())
        print(sorted(vars(function)), function.__closure__)
        print(function.__class__.__name__, isinstance(function, types.FunctionType | types.MethodType))
        print(hasattr(function, "__self__"), hasattr(function, "__func__"), callable(function))
    scale.extra = 5
    print(scale.extra, vars(scale))
    del scale.extra
    print(hasattr(scale, "extra"))
    scale.__annotations__["added"] = int
    print(scale.__annotations__)
    del scale.__annotations__["added"]


def inspection() -> None:
    for function in FUNCTIONS:
        print(inspect.signature(function), inspect.signature(function, eval_str=True))
        print(inspect.get_annotations(function), inspect.getdoc(function))
        print(
            inspect.isfunction(function), inspect.ismethod(function), inspect.isroutine(function),
            inspect.iscoroutinefunction(function), asyncio.iscoroutinefunction(function),
            inspect.isgeneratorfunction(function), inspect.isasyncgenfunction(function),
        )  # fmt: skip
        print(inspect.getsource(function).splitlines()[0].strip(), inspect.getfile(function) == __file__)
        print(inspect.getmodule(function) is sys.modules[__name__], inspect.unwrap(function).__name__)
    print(inspect.getfullargspec(scale))
    print([name for name, _ in inspect.getmembers(Base, inspect.isfunction) if not name.startswith("__")])
    print([name for name, _ in inspect.getmembers(Base(), inspect.ismethod) if not name.startswith("__")])
    print([entry.kind for entry in inspect.classify_class_attrs(Base) if entry.name in vars(Base)])


def hints() -> None:
    for function in FUNCTIONS:
        print(typing.get_type_hints(function))
    print(typing.get_type_hints(scale, include_extras=True))


def standard_functools() -> None:
    @functools.singledispatch
    def kind(value: object) -> str:
        return "object"

    @kind.register
    @profile
    def _(value: int) -> str:
        return "int"

    @kind.register(str)
    @profile
    def _text(value: object) -> str:
        return "str"

    @functools.singledispatch
    @profile
    def other(value: object) -> str:
        return "object"

    @other.register
    def _list(value: list) -> str:
        return "list"

    print(kind(1), kind("a"), kind(1.0), other([]), other(1), other.registry.keys())

    class Dispatching:
        @functools.singledispatchmethod
        @profile
        def kind(self, value: object) -> str:
            return "object"

        @kind.register
        @profile
        def _(self, value: int) -> str:
            return "int"

        @profile
        def add(self, a: int, b: int) -> int:
            return a + b

        add_one = functools.partialmethod(add, 1)

    print(Dispatching().kind(1), Dispatching().kind("x"), Dispatching().add_one(4))

    @functools.cache
    @profile
    def cached(value: int) -> int:
        print("computing", value)
        return value

    print(cached(1), cached(1), cached.cache_info(), cached.__wrapped__.__name__)

    @functools.wraps(scale)
    def wrapped(*args: Any, **kwargs: Any) -> float:
        return scale(*args, **kwargs)

    print(inspect.signature(wrapped), wrapped.__name__, wrapped(2, by=3))
    print(functools.partial(scale, by=10)(3), inspect.signature(functools.partial(scale, by=10)))

    @functools.total_ordering
    class Version:
        def __init__(self, number: int) -> None:
            self.number = number

        @profile
        def __eq__(self, other: object) -> bool:
            return isinstance(other, Version) and self.number == other.number

        @profile
        def __lt__(self, other: Version) -> bool:
            return self.number < other.number

        @profile
        def __hash__(self) -> int:
            return hash(self.number)

    one, two = Version(1), Version(2)
    print(one < two, one >= two, one == Version(1), len({one, Version(1)}), max(one, two) is two)
    base = Base()
    print(base.cached, base.cached, base.size)


def class_hooks() -> None:
    class Hooks:
        registry: typing.ClassVar[list[str]] = []

        @profile
        def __init_subclass__(cls, **options: object) -> None:
            super().__init_subclass__()
            Hooks.registry.append(f"{cls.__name__} {sorted(options)}")

        @profile
        def __class_getitem__(cls, item: type) -> str:
            return f"{cls.__name__}[{item.__name__}]"

    class Heir(Hooks, option=1):
        pass

    print(Hooks.registry, Hooks[int], Heir[str])


def classes() -> None:
    base, child = Base(), Child()
    print(base.method(1), child.method(2), Base.method(base, 3))
    print(base.inner_class_method(1), Child.inner_class_method(1), Child.outer_class_method(1))
    print(base.inner_static(1), Base.outer_static(1), base(5), list(base), base.anything)
    with base as entered:
        print(entered is base)
    print(base.method == base.method, base.method.__self__ is base, hash(base.method) == hash(base.method))
    print(copy.copy(scale) is scale, copy.deepcopy(scale) is scale, copy.deepcopy({"f": scale})["f"] is scale)

    @dataclasses.dataclass(order=True)
    class Point:
        x: int
        make: Callable[[int], float] = dataclasses.field(default=scale, compare=False)

        @profile
        def __post_init__(self) -> None:
            self.x += 1

        @profile
        def moved(self, by: int = 1) -> Point:
            return dataclasses.replace(self, x=self.x + by)

    print(Point(1).moved(2).x, [field.name for field in dataclasses.fields(Point)], Point(3).make(4))

    class Colour(enum.Enum):
        RED = 1
        GREEN = 2

        @profile
        def mixed(self) -> str:
            return self.name.lower()

        @classmethod
        @profile
        def _missing_(cls, value: object) -> Colour:
            return cls.RED

    print(list(Colour), Colour.GREEN.mixed(), Colour(9), Colour.__members__.keys())

    class Shape(abc.ABC):
        @abc.abstractmethod
        @profile
        def area(self) -> float: ...

        @profile
        @abc.abstractmethod
        def edge(self) -> float: ...

    print(sorted(Shape.__abstractmethods__), inspect.isabstract(Shape))
    try:
        Shape()
    except TypeError as error:
        print(error)

    class Sized(Protocol):
        @profile
        def size(self) -> int: ...

    class Row(NamedTuple):
        a: int

        @profile
        def double(self) -> int:
            return self.a * 2

    class Box(Generic[T]):
        @profile
        def __init__(self, item: T) -> None:
            self.item = item

        @profile
        def get(self) -> T:
            return self.item

    print(Row(4).double(), Box[int](5).get(), inspect.signature(Box), Sized.__name__)


class Weak:
    pass


def lifetimes() -> None:
    gc.collect()
    gc.disable()

    @profile
    def local(argument: object) -> int:
        return 1

    reference = weakref.ref(local)
    instance = Weak()
    alive = weakref.ref(instance)
    local(instance)
    del instance
    print("argument", alive())
    del local
    print("function", reference())

    @profile
    def items() -> Iterator[Weak]:
        yield Weak()
        yield Weak()

    iterator = items()
    first = weakref.ref(next(iterator))
    print("item before", first() is not None)
    second = weakref.ref(next(iterator))
    print("item after", first())
    iterator.close()
    del iterator
    print("closed", second())

    @profile
    def drop(data: Weak) -> Iterator[object]:
        seen = weakref.ref(data)
        del data
        yield seen()

    print("dropped", next(drop(Weak())))
    early = items()
    last = weakref.ref(next(early))
    del early
    print("abandoned", last())
    bound = weakref.WeakMethod(KEPT.method)
    print("method", bound()(1))


KEPT = Base()


def recursion() -> None:
    @profile
    def plunge(depth: int) -> int:
        return depth if depth == 0 else plunge(depth - 1)

    print(plunge(300))

    @profile
    def endless(depth: int) -> None:
        endless(depth + 1)

    for _ in range(12):
        try:
            endless(0)
        except RecursionError as error:
            print(type(error).__name__, str(error)[:32])
    print(plunge(300))


def pickled() -> None:
    for function in (scale, fetch, countdown, Base.method, KEPT_STATIC):
        for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
            print(pickle.loads(pickle.dumps(function, protocol)) == function)
    print(pickle.loads(pickle.dumps(functools.partial(scale, by=3)))(4))
    print(pickle.loads(pickle.dumps({"task": scale, "args": (1,)}))["task"](1))


KEPT_STATIC = Base.inner_static


def processes() -> None:
    import multiprocessing

    for method in ("spawn", "fork", "forkserver"):
        with ProcessPoolExecutor(2, multiprocessing.get_context(method)) as pool:
            print(method, list(pool.map(scale, range(8))))
        with multiprocessing.get_context(method).Pool(2) as workers:
            print(method, workers.map(scale, range(8)), workers.apply(scale, (5,), {"by": 3}))


def pydantic_models() -> None:
    import pydantic

    @pydantic.validate_call
    @profile
    def positive(value: Annotated[int, pydantic.Field(gt=0)], text: str = "x") -> str:
        return text * value

    @profile
    @pydantic.validate_call
    def outside(value: int) -> int:
        return value

    print(positive("3"), outside("4"))
    for bad in (-1, "word"):
        try:
            positive(bad)
        except pydantic.ValidationError as error:
            print([(entry["type"], entry["loc"], entry["msg"]) for entry in error.errors()])

    class Order(pydantic.BaseModel):
        price: float
        count: int = 1

        @pydantic.field_validator("price")
        @classmethod
        @profile
        def not_free(cls, value: float) -> float:
            if value == 0:
                raise ValueError("free")
            return value

        @pydantic.model_validator(mode="after")
        @profile
        def not_many(self) -> Order:
            if self.count > 9:
                raise ValueError("too many")
            return self

        @pydantic.computed_field
        @property
        @profile
        def total(self) -> float:
            return self.price * self.count

        @pydantic.field_serializer("price")
        @profile
        def as_text(self, value: float) -> str:
            return f"{value:.2f}"

        @profile
        def describe(self) -> str:
            return f"{self.count} at {self.price}"

    order = Order(price="1.5", count="3")
    print(order, order.describe(), order.model_dump(), order.model_dump_json())
    print(Order.model_json_schema(mode="serialization"))
    for bad in ({"price": 0}, {"price": 1, "count": 10}):
        try:
            Order(**bad)
        except pydantic.ValidationError as error:
            print([(entry["type"], entry["msg"]) for entry in error.errors()])
    adapter = pydantic.TypeAdapter(Callable[[int], float])
    print(adapter.validate_python(scale) is scale)


def typer_commands() -> None:
    global typer  # annotations are looked up in the module
    import typer
    from typer.testing import CliRunner

    app = typer.Typer(add_completion=False)

    @app.command()
    @profile
    def greet(name: str, count: int = 1, loud: bool = False) -> None:
        """Greet somebody."""
        typer.echo(" ".join(["hello", name.upper() if loud else name] * count))

    @app.command()
    @profile
    def fail(code: Annotated[int, typer.Argument(help="An exit code.")] = 3) -> None:
        raise typer.Exit(code)

    @app.callback()
    @profile
    def main(verbose: bool = typer.Option(False, help="Say more.")) -> None:
        """A program."""
        typer.echo(f"verbose {verbose}")

    for arguments in (
        ["--help"], ["greet", "--help"], ["greet", "ann", "--count", "2", "--loud"], ["greet"], ["fail"],
        ["fail", "x"], ["--verbose", "fail", "5"], ["greet", "ann", "--count", "many"],
    ):  # fmt: skip
        result = CliRunner().invoke(app, arguments, env={"COLUMNS": "80", "NO_COLOR": "1"})
        print(arguments, result.exit_code, result.output, repr(result.exception))


def click_commands() -> None:
    import click
    from click.testing import CliRunner

    @click.command()
    @click.option("--count", default=1)
    @profile
    def inner(count: int) -> None:
        """Say it."""
        click.echo("said " * count)

    print(CliRunner().invoke(inner, ["--count", "3"]).output, CliRunner().invoke(inner, ["--help"]).output)


def asynchronous() -> None:
    async def main() -> None:
        print(await fetch("x"), [number async for number in stream(3)], list(countdown(3)))
        task = asyncio.create_task(fetch("y"), name="named")
        print(task.get_coro().__qualname__, task.get_coro().__name__, inspect.iscoroutine(task.get_coro()))
        print(await task)
        results = await asyncio.gather(*(fetch(str(n), 1) for n in range(5)))
        print(results, await asyncio.to_thread(scale, 4))
        cancelled = asyncio.create_task(forever())
        await asyncio.sleep(0.05)
        cancelled.cancel()
        print((await asyncio.gather(cancelled, return_exceptions=True))[0].__class__.__name__)
        try:
            async with asyncio.timeout(0.05):
                await forever()
        except TimeoutError:
            print("timed out")
        closing = stream(3)
        print(await anext(closing), await closing.aclose())

    asyncio.run(main())


@profile
async def forever() -> None:
    try:
        await asyncio.sleep(60)
    finally:
        print("cleaned up")


def mocks() -> None:
    from unittest import mock

    mocked = mock.create_autospec(scale)
    mocked(1, by=2)
    print(mocked.call_args, inspect.signature(mocked))
    try:
        mocked(1, 2, 3, 4)
    except TypeError as error:
        print(error)
    with mock.patch(f"{__name__}.scale", return_value=9):
        print(scale(1))
    print(scale(1), mock.create_autospec(Base, instance=True).method(3) is not None)


if __name__ == "__main__":
    globals()[sys.argv[1]]()
