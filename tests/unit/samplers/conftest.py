"""Time for probes of system calls, however busy the machine is."""

from __future__ import annotations

import pytest

from profkit.samplers import attach_facts


@pytest.fixture(autouse=True)
def _time_for_probes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attach_facts, "_PROBE_TIMEOUT_S", 60.0)
