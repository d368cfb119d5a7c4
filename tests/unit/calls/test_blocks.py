"""Which `with` statement a block belongs to."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import pytest

from profkit.calls import blocks, with_statements
from profkit.calls.blocks import Block
from profkit.calls.regions import RegionExtras, block_region
from profkit.calls.with_statements import Statement
from profkit.model.region import Region
from profkit.process import guard
from profkit.samplers.options import SamplerOptions
from profkit.session import activity
from profkit.session.counters import Counters, Policy


class Source:
    """Counters whose calls are counted, with no sampler behind them."""

    active, every = True, 1

    def block_counters(self, statement: Statement, module: str) -> Counters:
        region = block_region(statement, module, None, RegionExtras())
        counters = Counters(region, SamplerOptions(), Policy(on_busy="skip"))
        counters.live = True
        return counters


SOURCE = Source()


@contextlib.contextmanager
def managed() -> Iterator[Block]:
    with Block(SOURCE) as block:
        yield block


@contextlib.contextmanager
def managed_twice() -> Iterator[Block]:
    with managed() as block:
        yield block


def here() -> int:
    import sys

    return sys._getframe(1).f_lineno


def region_of(block: Block) -> Region:
    assert block.region is not None
    return block.region


@pytest.fixture(autouse=True)
def nothing_stays_open() -> Iterator[None]:
    yield
    assert activity.calls_under_way() == 0
    assert activity.OPEN_BLOCKS == {}


@pytest.mark.parametrize("manager", [managed, managed_twice, lambda: Block(SOURCE)])
def test_a_block_is_where_its_body_runs(manager: object) -> None:
    with manager() as block:  # type: ignore[operator]
        line = here()
    region = region_of(block)
    assert (region.key.qualname, region.key.line) == (test_a_block_is_where_its_body_runs.__name__, line - 1)
    assert region.body == (line,)
    assert not region.detached


@pytest.mark.parametrize("manager", [managed, lambda: Block(SOURCE)])
def test_an_exit_stack_detaches_a_block_from_its_statement(manager: object) -> None:
    with contextlib.ExitStack() as stack:
        block = stack.enter_context(manager())  # type: ignore[operator]
        region = region_of(block)
        assert region.detached
        assert region.key.module == __name__
        assert region.key.qualname == test_an_exit_stack_detaches_a_block_from_its_statement.__name__


def test_a_function_that_contextlib_calls_is_none_of_its_own() -> None:
    @managed()
    def inner() -> Region:
        with Block(SOURCE) as block:
            return region_of(block)

    assert inner().key.qualname.endswith("inner")


@pytest.mark.parametrize("unknown", [("_BEFORE_WITH", "_LOADS_ENTER"), ("_BEFORE_WITH", "_CALL")])
def test_another_way_to_enter_is_reported_once_and_no_body_is_guessed(
    unknown: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    for name in unknown:
        monkeypatch.setattr(with_statements, name, None)
    monkeypatch.setattr(blocks, "_STATEMENTS", {})
    monkeypatch.setattr(guard, "_LOGGED", set())
    with_statements.are_understood.cache_clear()
    try:
        with Block(SOURCE) as one:
            pass
        with Block(SOURCE) as other:
            pass
    finally:
        with_statements.are_understood.cache_clear()
    assert all(region_of(block).detached for block in (one, other))
    assert len([record for record in caplog.records if "does not know" in record.message]) == 1
