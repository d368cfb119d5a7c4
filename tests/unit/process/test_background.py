from __future__ import annotations

import gc
import sys
import threading
from types import FrameType

import pytest

from profkit.process.background import current_frames


def test_the_frame_of_each_thread() -> None:
    frames = current_frames()
    assert frames[threading.get_ident()].f_back is sys._getframe()


@pytest.mark.parametrize("enabled", [True, False])
def test_no_garbage_is_collected_meanwhile_where_that_could_hang(
    enabled: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, states = sys._current_frames, []

    def frames() -> dict[int, FrameType]:
        states.append(gc.isenabled())
        return real()

    monkeypatch.setattr(sys, "_current_frames", frames)
    was_enabled = gc.isenabled()
    (gc.enable if enabled else gc.disable)()
    try:
        current_frames()
        assert gc.isenabled() is enabled
    finally:
        (gc.enable if was_enabled else gc.disable)()
    assert states == [enabled and sys.version_info >= (3, 11, 9)]
