"""What a merged run is made of, as a JSON object."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import replace

from profkit.model.run import Merged
from profkit.render.process_rows import DifferingRow, ProcessRow, differing_rows, process_rows
from profkit.render.words import iso_moment

Write = Callable[[str], str]


def merged_object(merged: Merged, write: Write = str) -> dict[str, object]:
    """The runs, a row for each process, and the functions whose shares differ between the processes.

    `write` is asked about texts that come from the program, as pages need them.
    """
    return {
        "runs": [
            {
                "id": write(info.id),
                "session": write(info.session),
                "pid": info.process.pid,
                "host": write(info.process.host),
                "state": info.state.value,
                "samples": info.samples,
                "calls": info.calls,
            }
            for info in merged.infos
        ],
        "processes": [_process(row, write) for row in process_rows(merged)],
        "differing": [_function(row, write) for row in differing_rows(merged)],
    }


def _process(row: ProcessRow, write: Write) -> dict[str, object]:
    fields = dataclasses.asdict(replace(row, host=write(row.host)))
    return {"started": iso_moment(fields.pop("started_ns")), **fields}


def _function(row: DifferingRow, write: Write) -> dict[str, object]:
    processes = tuple(replace(process, host=write(process.host)) for process in row.processes)
    return dataclasses.asdict(replace(row, name=write(row.name), file=write(row.file), processes=processes))
