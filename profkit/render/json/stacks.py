"""JSON of a process's stacks at one moment."""

from __future__ import annotations

from profkit.model.run import Run
from profkit.render.formatting import iso_moment
from profkit.render.json.sampled import dumps, process_object
from profkit.render.options import DEFAULTS, PIPE, ReportOptions, Terminal
from profkit.render.views.stacks import newest_stacks

STACKS_SCHEMA = "profkit.stacks/1"


def stacks_json(run: Run, _options: ReportOptions = DEFAULTS, _terminal: Terminal = PIPE) -> str:
    """Return the newest stack of each thread, innermost frame first."""
    return dumps(
        STACKS_SCHEMA,
        {
            "process": process_object(run.info.process),
            "at": iso_moment(run.info.started_ns),
            "sampler": run.info.plan.sampler,
            "threads": [
                {
                    "name": stack.thread.name,
                    "pid": stack.thread.pid or run.info.process.pid,
                    "tid": stack.thread.tid,
                    "state": stack.state.value,
                    "frames": [{**line.frame._asdict(), "source": line.source} for line in stack.lines],
                }
                for stack in newest_stacks(run)
            ],
        },
    )
