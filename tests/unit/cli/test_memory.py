"""What commands do to the memory of their process."""

from __future__ import annotations

import gc

from profkit.cli.memory import for_large_profiles


def test_the_collector_is_as_it_was_afterwards() -> None:
    assert gc.isenabled()
    with for_large_profiles():
        assert not gc.isenabled()
        with for_large_profiles():
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled()
