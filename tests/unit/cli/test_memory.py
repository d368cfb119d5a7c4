"""What commands do to the memory of their process."""

from __future__ import annotations

import gc

from profkit.cli.memory import for_large_profiles, for_short_commands


def test_the_collector_is_as_it_was_afterwards() -> None:
    assert gc.isenabled()
    with for_large_profiles():
        assert not gc.isenabled()
        with for_large_profiles():
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled()


def test_short_commands_collect_rarely() -> None:
    before = gc.get_threshold()
    with for_short_commands():
        assert gc.get_threshold()[0] > 10 * before[0]
    assert gc.get_threshold() == before
