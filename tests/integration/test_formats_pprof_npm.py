"""pprof-format, npm's reader of pprof files, reads what profkit writes."""

from __future__ import annotations

import gzip
import json
import subprocess
from pathlib import Path

import pytest

from profkit.formats import pprof
from profkit.formats.registry import TimeSpan
from profkit.model.profile import Frame, ProfileBuilder, Thread
from tests.integration.npm_packages import PPROF_FORMAT

pytestmark = pytest.mark.npm

SCRIPT = """
const {Profile} = require(process.argv[1] + "/dist/commonjs/index.js");
const read = Profile.decode(require("fs").readFileSync(process.argv[2]));
const text = index => read.stringTable.strings[index];
console.log(JSON.stringify({
  values: read.sample.map(sample => sample.value.map(Number)),
  functions: read.function.map(entry => text(entry.name)),
  comments: read.comment.map(text),
  time: Number(read.timeNanos), duration: Number(read.durationNanos), period: Number(read.period),
}));
"""


def test_an_ordered_profile(tmp_path: Path) -> None:
    builder = ProfileBuilder()
    run, leaf = Frame("run", "/app/a.py", 3), Frame("leaf", "/app/b.py", 9)
    for count in range(1, 301):
        builder.add((run, leaf) if count % 3 else (run,), Thread(7, 7, "MainThread"), count)
    profile = builder.build(period_ns=1e7)
    file = tmp_path / "x.pb"
    file.write_bytes(gzip.decompress(pprof.encode_timed(profile, TimeSpan(17 * 10**9, 5 * 10**9))))
    command = ["node", "-e", SCRIPT, str(PPROF_FORMAT.folder()), str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    read = json.loads(done.stdout)
    in_leaf = sum(count for count in range(301) if count % 3)
    in_run = sum(range(301)) - in_leaf
    assert sorted(read["values"]) == sorted([[n, n * 10_000_000] for n in (in_leaf, in_run)])
    assert set(read["functions"]) == {"run", "leaf"}
    assert (read["time"], read["duration"], read["period"]) == (17 * 10**9, 5 * 10**9, 10_000_000)
    assert [comment.split()[0] for comment in read["comments"]] == ["profkit.pprof/1", "#profkit.turns/1"]
