"""What errors of measuring and of isolated calls say."""

from __future__ import annotations

from profkit.errors import WorkerError
from profkit.measuring.errors import CannotReturn, MemoryExceeded, ResultUnreadable


def test_errors_of_limits_say_what_to_do() -> None:
    excess = MemoryExceeded("f", 3 << 30, 2 << 30, default=True, output="where\n")
    assert str(excess) == (
        "'f' was ended: it used 3.00 GiB of memory, more than the default limit of 2.00 GiB; use less, or "
        "raise memory_limit_bytes\n    where"
    )
    assert "return plain data" in str(CannotReturn("f", "generator", "cannot pickle"))
    for error in (excess, CannotReturn("f", "g", "no"), ResultUnreadable("f", "no")):
        assert isinstance(error, WorkerError)
        assert error.exit_code == 3
