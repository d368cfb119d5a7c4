"""Functions and classes of a module, some of them decorated, on their way to a worker."""

from __future__ import annotations

from profkit import profile

FACTOR = 3


def plain(x: int) -> int:
    return x * FACTOR


@profile
def decorated(x: int) -> int:
    return x * FACTOR if x < 10 else decorated(x - 10) + 1


def calls_decorated(x: int) -> int:
    return decorated(x)


def within() -> object:
    y = 5

    @profile
    def inner(x: int) -> int:
        return y + x if x < 10 else inner(x - 10)

    return inner


class Owner:
    def __init__(self, size: int = 7) -> None:
        self.size = size

    @profile
    def method(self, x: int) -> int:
        return self.size + x

    @classmethod
    @profile
    def inner_class(cls, x: int) -> str:
        return cls.__name__ * x

    @profile
    @classmethod
    def outer_class(cls, x: int) -> str:
        return cls.__name__ * x

    @profile
    @staticmethod
    def outer_static(x: int) -> int:
        return -x

    @staticmethod
    @profile
    def inner_static(x: int) -> int:
        return -x

    @property
    @profile
    def doubled(self) -> int:
        return 2 * self.size


async def coroutine(x: int) -> int:
    return x
