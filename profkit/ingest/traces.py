"""Reading of the traces of torch.profiler in a session's folder."""

from __future__ import annotations

import gzip
from collections import defaultdict
from collections.abc import Mapping, Sequence

from profkit.errors import DamagedFile
from profkit.model.trace import Trace
from profkit.store.files import OwnedFolder
from profkit.store.records import load_json
from profkit.store.trace_files import LARGEST_TRACE_BYTES, region_of
from profkit.transforms.operators import Json, sum_up_traces


def read_traces(
    folder: OwnedFolder,
) -> tuple[Mapping[str, tuple[Trace, bytes]], tuple[DamagedFile, ...]]:
    """Return the traces by region, each with its last file, gzipped; and the files that cannot be read."""
    files: defaultdict[str, list[str]] = defaultdict(list)
    for name in sorted(folder.names()):
        if (region := region_of(name)) is not None:
            files[region].append(name)
    found, damaged = {}, []
    for region, names in files.items():
        traces: list[Sequence[Json]] = []
        last = b""
        for name in names:
            try:
                data = folder.read(name, LARGEST_TRACE_BYTES)
                sum_up_traces([events := _events(data)])
            except DamagedFile as damage:
                damaged.append(damage)
            except (ValueError, RecursionError) as error:
                damaged.append(DamagedFile(folder.path / name, str(error)))
            else:
                traces.append(events)
                last = data
        if traces:
            found[region] = sum_up_traces(traces), gzip.compress(last, 6, mtime=0)
    return found, tuple(damaged)


def _events(data: bytes) -> Sequence[Json]:
    document = load_json(data)
    events = document.get("traceEvents") if isinstance(document, dict) else None
    if not isinstance(events, list) or not all(isinstance(event, dict) for event in events):
        raise ValueError("it is no trace of torch.profiler")
    return events
