"""What a merged run is made of, as a JSON object."""

from __future__ import annotations

import dataclasses

from profkit.model.run import Merged
from profkit.render.process_rows import DifferingRow, ProcessRow, differing_rows, process_rows
from profkit.render.words import iso_moment


def merged_object(merged: Merged) -> dict[str, object]:
    """The runs, a row for each process, and the functions whose shares differ between the processes."""
    return {
        "runs": [
            {
                "id": info.id,
                "session": info.session,
                "pid": info.process.pid,
                "host": info.process.host,
                "state": info.state.value,
                "samples": info.samples,
                "calls": info.calls,
            }
            for info in merged.infos
        ],
        "processes": [_process(row) for row in process_rows(merged)],
        "differing": [_function(row) for row in differing_rows(merged)],
    }


def _process(row: ProcessRow) -> dict[str, object]:
    fields = dataclasses.asdict(row)
    return {"started": iso_moment(fields.pop("started_ns")), **fields}


def _function(row: DifferingRow) -> dict[str, object]:
    return dataclasses.asdict(row)
