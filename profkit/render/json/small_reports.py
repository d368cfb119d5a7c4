"""JSON of stacks, checkups, compilations, jobs and histories: one object each."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict

from profkit.comparing.history import is_beyond_noise
from profkit.model.checkup import Check, Checkup
from profkit.model.compilations import Compilations, CompiledFrame
from profkit.model.history import History, Series
from profkit.model.job_stacks import JobStacks, OneStack
from profkit.model.profile import Frame
from profkit.model.run import Run
from profkit.render.formatting import iso_moment
from profkit.render.json.comparisons import spread_object
from profkit.render.json.sampled import dumps, process_object, warning_object
from profkit.render.options import DEFAULTS, PIPE, ReportOptions, Terminal
from profkit.render.views.checkup import verdict
from profkit.render.views.compilations import headline, sorted_passes
from profkit.render.views.jobs import JobRow
from profkit.render.views.stacks import ThreadState, newest_stacks

JOBS_SCHEMA = "profkit.jobs/1"
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


JOB_STACKS_SCHEMA = "profkit.job-stacks/1"
_OTHER = ("rank", "name", "sizes")


def job_stacks_json(stacks: JobStacks, _options: ReportOptions = DEFAULTS, _terminal: Terminal = PIPE) -> str:
    """Return the stacks of each process of a job, innermost frame first, and what could not be read."""
    return dumps(
        JOB_STACKS_SCHEMA,
        {
            "job": stacks.job or None,
            "processes": [
                {
                    "process": process_object(one.process),
                    "at": iso_moment(one.at_ns),
                    "threads": [_thread_object(stack) for stack in one.threads],
                }
                for one in stacks.processes
            ],
            "unread": [
                {"process": process_object(one.process), "reason": one.reason} for one in stacks.unread
            ],
            "missing": list(stacks.missing),
            "collectives": [
                {**asdict(one), "others": [dict(zip(_OTHER, other, strict=True)) for other in one.others]}
                for one in stacks.collectives
            ],
        },
    )


def _thread_object(stack: OneStack) -> dict[str, object]:
    return {
        "name": stack.name,
        "tid": stack.tid,
        "state": (ThreadState.WAITING if stack.is_waiting else ThreadState.WORKING).value,
        "waits_for": stack.waits_for or None,
        "frames": [Frame(*frame)._asdict() for frame in reversed(stack.frames)],
    }


CHECKUP_SCHEMA = "profkit.checkup/1"


def checkup_json(checkup: Checkup, _options: ReportOptions = DEFAULTS, _terminal: Terminal = PIPE) -> str:
    """Return whether the main uses work, and all checks in the order of the text."""
    return dumps(
        CHECKUP_SCHEMA,
        {
            "verdict": verdict(checkup),
            "works": checkup.works,
            "sampling": checkup.sampling,
            "timing": checkup.timing,
            "checks": [_check(check) for check in checkup.checks],
        },
    )


def _check(check: Check) -> dict[str, object]:
    return {
        "group": check.group.value,
        "name": check.name,
        "status": check.status.value,
        "found": check.found,
        "cost": check.cost or None,
        "fix": check.fix or None,
        "took_s": check.took_s,
    }


COMPILATIONS_SCHEMA = "profkit.compilations/1"


def compilations_json(
    found: Compilations, options: ReportOptions = DEFAULTS, _terminal: Terminal = PIPE
) -> str:
    """Return frames in the order in which they were compiled, shares of stages, and all passes."""
    weight = found.weight
    return dumps(
        COMPILATIONS_SCHEMA,
        {
            "summary": headline(found),
            "process": process_object(found.process),
            "total_s": found.total_s,
            "samples": weight,
            "frames": [_frame(frame) for frame in found.frames[: options.limit]],
            "stages": [{"name": stage.name, "share": stage.weight / weight} for stage in found.stages],
            "passes": [
                {
                    "stage": row.stage,
                    "name": row.name,
                    "file": row.file,
                    "line": row.line,
                    "self_samples": row.own,
                    "total_samples": row.total,
                    "self_share": row.own / weight,
                    "total_share": row.total / weight,
                    "self_s": row.own * found.sample_s,
                    "total_s": row.total * found.sample_s,
                }
                for row in sorted_passes(found, options)[: options.limit]
            ],
        },
    )


def _frame(frame: CompiledFrame) -> dict[str, object]:
    return {
        "frame": frame.id or None,
        "function": frame.function,
        "file": frame.file,
        "line": frame.line,
        "total_s": frame.total_s,
        "samples": frame.samples,
        "phases": [
            {
                "name": phase.name,
                "run": phase.info.id,
                "label": phase.info.label,
                "wall_s": phase.wall_s,
                "calls": phase.info.calls,
                "raised": phase.info.raised,
                "nested": phase.is_inside,
                "samples": phase.info.samples,
            }
            for phase in frame.phases
        ],
    }


HISTORY_SCHEMA = "profkit.history/1"


def jobs_json(rows: Iterable[JobRow]) -> str:
    """Return a list of jobs, with the ids of their runs."""
    jobs = [
        {
            "job": row.name,
            "started": iso_moment(row.started_ns),
            "ranks": sorted(row.ranks),
            "world_size": row.world_size,
            "workers": list(row.workers),
            "processes": row.processes,
            "hosts": sorted({info.process.host for info in row.infos}),
            "labels": list(dict.fromkeys(info.label for info in row.infos)),
            "samples": sum(info.samples for info in row.infos),
            "recording": row.recording,
            "runs": [info.id for info in row.infos],
        }
        for row in rows
    ]
    return dumps(JOBS_SCHEMA, {"jobs": jobs})


def history_json(history: History, options: ReportOptions = DEFAULTS, _terminal: Terminal = PIPE) -> str:
    """Return the points of each series, oldest first; only the newest ones if the options limit them."""
    series = [_series(one, options.limit) for one in history.series]
    return dumps(HISTORY_SCHEMA, {"label": history.label, "series": series})


def _series(series: Series, limit: int | None) -> dict[str, object]:
    changes = series.changes
    points = [
        {
            "commit": point.commit or None,
            "started": iso_moment(point.started_ns),
            "value": point.value,
            "interval": None if point.low is None else (point.low, point.high),
            "ratio": changes[place],
            "beyond_noise": place > 0 and is_beyond_noise(series, place),
            "runs": point.runs,
            "warnings": [warning_object(warning) for warning in point.warnings],
        }
        for place, point in enumerate(series.points)
    ]
    return {
        "name": series.name,
        "quantity": series.quantity.value,
        "executions_at_a_time": series.number,
        "spread_of_runs": spread_object(series.spread),
        "points": points[-limit:] if limit else points,
    }
