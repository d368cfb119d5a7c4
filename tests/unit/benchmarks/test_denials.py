from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from benchmarks import denials


def test_denials_fail_if_another_sampler_is_reached(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    found = {"call_s": 0.3, "by_hand_s": 0.1, "sampler": "inprocess", "blocking": False}
    done = subprocess.CompletedProcess([], 0, json.dumps(found), "")
    monkeypatch.setattr(denials.subprocess, "run", lambda *_, **__: done)
    assert denials._pair("not dumpable", tmp_path) == (0.3, 0.1)
    with pytest.raises(RuntimeError, match=r"^another tracer: .*'inprocess'.* was reached, not .*'pyspy'"):
        denials._pair("another tracer", tmp_path)
