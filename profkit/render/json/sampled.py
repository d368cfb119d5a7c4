"""JSON of sampled runs: a report, lists of runs, and the objects that other reports share."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING

from profkit.model.histogram import Histogram, bucket_bounds_ns, quantile_ns
from profkit.model.measurement import AnyInfo, MeasuredInfo, MeasurementWarning, OrderInfo
from profkit.model.notes import Finding, Note
from profkit.model.ranks import RankTimes
from profkit.model.run import Imported, Memory, Merged, Run, RunInfo
from profkit.model.session import ProcessInfo, SessionState, UnprofiledGroup
from profkit.render.formatting import iso_moment
from profkit.render.json.run_parts import MAX_DEPTH, trace_object, tree_parts
from profkit.render.options import DEFAULTS, PIPE, ReportOptions, Terminal
from profkit.render.views.findings import finding_text
from profkit.render.views.header import mode_word, run_notes
from profkit.render.views.measurement_warnings import warning_text
from profkit.render.views.merged import usage
from profkit.render.views.notes import note_text
from profkit.render.views.processes import (
    ProcessRow,
    differing_rows,
    process_rows,
    unprofiled_objects,
)
from profkit.render.views.sampled import build_report
from profkit.render.views.summary import summary
from profkit.render.views.tables import build_tables
from profkit.transforms.unsampled_time import await_shares, sampled_points

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


def merged_object(merged: Merged) -> dict[str, object]:
    """Return the runs, a row for each process, and the functions whose shares differ between processes."""
    return {
        "runs": [
            {
                "id": info.id,
                "session": info.session,
                "pid": info.process.pid,
                "host": info.process.host,
                "launch": info.process.launch,
                "job": info.process.member.job,
                "rank": info.process.member.rank,
                "env": dict(info.region.env),
                "state": info.state.value,
                "samples": info.samples,
                "calls": info.calls,
                "process": process_object(info.process),
            }
            for info in merged.infos
        ],
        "processes": [_process(row) for row in process_rows(merged)],
        "differing": [dataclasses.asdict(row) for row in differing_rows(merged)],
        "ranks": None if merged.ranks is None else _ranks(merged.ranks),
    }


def _ranks(ranks: RankTimes) -> dict[str, object]:
    late = ranks.late
    if late is None:
        return dataclasses.asdict(ranks)
    functions = {"function": late.function, "of_children": late.of_children}
    named = {key: None if frame is None else frame._asdict() for key, frame in functions.items()}
    return {**dataclasses.asdict(ranks), "late": {**dataclasses.asdict(late), **named}}


def _process(row: ProcessRow) -> dict[str, object]:
    fields = dataclasses.asdict(row)
    return {"started": iso_moment(fields.pop("started_ns")), **fields}


def listed_object(info: AnyInfo) -> dict[str, object]:
    """Return a run for a list; its `mode` determines its fields."""
    fields = measured_object(info) if isinstance(info, MeasuredInfo) else run_object(info)
    return {"mode": mode_word(info), **fields}


def measured_object(info: MeasuredInfo) -> dict[str, object]:
    """Return a measured run: its order, its main figures, its quality and its process."""
    state = SessionState.SUCCESS if info.error is None else SessionState.FAILED
    return {
        "id": info.id,
        "label": info.label,
        "state": state.value,
        "started": iso_moment(info.started_ns),
        "batch": info.batch,
        "duration_s": info.duration_s,
        "min_s": info.min_s,
        "median_s": info.median_s,
        "instructions": info.instructions,
        "quality": quality_object(info.warnings, trusted=info.error is None and not info.warnings),
        **order_object(info.order),
        "process": process_object(info.process),
        "notes": note_objects(info.notes),
        "error": info.error,
    }


def order_object(order: OrderInfo) -> dict[str, object]:
    """Return what an order measures and how, without its label."""
    return {
        "what": order.what,
        "file": order.file,
        "line": order.line,
        "setup": order.setup,
        "global_setup": order.global_setup,
        "mode": order.mode.value,
        "language": order.language.value,
        "level": order.level.value,
        "num_threads": order.num_threads,
        "quick": order.quick,
        "labels": dict(order.labels),
        "source_cmd": list(order.source_cmd),
        "env": dict(order.env),
        "program": None if order.program is None else dataclasses.asdict(order.program),
    }


def process_object(process: ProcessInfo) -> dict[str, object]:
    """Return a process without its seal, which belongs in this user's own store only."""
    fields = dataclasses.asdict(process)
    del fields["seal"]
    return fields


def quality_object(warnings: Iterable[MeasurementWarning], *, trusted: bool) -> dict[str, object]:
    """Return whether numbers can be trusted, and the warnings against them."""
    return {
        "trusted": trusted,
        "warnings": [warning_object(warning) for warning in warnings],
    }


def warning_object(warning: MeasurementWarning | Note) -> dict[str, object]:
    """Return a warning: its code, its figures by name, and both as a sentence."""
    return _coded(warning, warning_text(warning))


def note_objects(notes: Iterable[Note]) -> list[dict[str, object]]:
    """Return notes as `warning_object` does warnings."""
    return [_coded(note, note_text(note)) for note in notes]


def finding_object(finding: Finding) -> dict[str, object]:
    """Return a finding as `warning_object` does a warning."""
    return _coded(finding, finding_text(finding))


def _coded(coded: MeasurementWarning | Note | Finding, text: str) -> dict[str, object]:
    return {"code": coded.code.value, "figures": dict(coded.figures), "text": text}


def run_object(info: RunInfo) -> dict[str, object]:
    """Return a run: its region, calls, sampling and process; durations are in seconds."""
    return {
        "id": info.id,
        "label": info.label,
        "state": info.state.value,
        "started": iso_moment(info.started_ns),
        **_region(info),
        **_calls(info),
        "sampler": _sampler(info) if info.imported is None else None,
        "samples": info.samples,
        "torn": info.torn,
        "memory": _memory(info.memory),
        "errors": info.errors,
        "session": {"id": info.session, "recorded_s": info.session_s, "gap_s": info.gap_s},
        "truncated": info.truncated,
        "imported": _imported(info.imported),
        "process": process_object(info.process),
        "tags": list(info.region.tags),
        "user": info.region.user,
        "env": dict(info.region.env),
        "links": [{"what": what, "url": url} for what, url in info.links],
        "notes": note_objects(info.notes),
        "error": info.error,
    }


def _memory(memory: Memory | None) -> dict[str, object] | None:
    return None if memory is None else {"peak_bytes": memory.peak_bytes, **dataclasses.asdict(memory)}


def _imported(source: Imported | None) -> dict[str, object] | None:
    return None if source is None else {**dataclasses.asdict(source), "unit": source.unit.value}


def _region(info: RunInfo) -> dict[str, object]:
    region, key = info.region, info.region.key
    return {
        "version": region.version,
        "kind": region.kind.value,
        "module": key.module,
        "function": key.qualname,
        "file": region.file,
        "line": key.line,
    }


def _calls(info: RunInfo) -> dict[str, object]:
    return {
        "calls": info.calls,
        "nested": info.nested,
        "skipped": info.skipped,
        "raised": info.raised,
        "traced_away": info.traced_away,
        "wall_s": info.wall_s,
        "active_s": info.active_s,
        "suspended_s": info.suspended_s,
        "awaits": await_objects(info),
        "durations": _durations(info.durations),
    }


def await_objects(info: RunInfo) -> list[dict[str, object]]:
    """Return the lines at which calls or tasks were suspended."""
    return [
        {
            "file": line.place.file,
            "line": line.place.line,
            "function": line.place.function,
            "awaited": line.place.awaited,
            "suspended_s": line.suspended_s,
            "share": line.share,
            "times": line.place.times,
        }
        for line in await_shares(info)
    ]


def _durations(histogram: Histogram) -> dict[str, object] | None:
    """Return quantiles, each accurate to a bucket, and `buckets` as (lower bound, upper bound, count)."""
    if not histogram.count:
        return None
    bounds = [(*bucket_bounds_ns(bucket), count) for bucket, count in histogram.buckets]
    return {
        "min_s": histogram.min_ns / 1e9,
        "p50_s": quantile_ns(histogram, 0.5) / 1e9,
        "p90_s": quantile_ns(histogram, 0.9) / 1e9,
        "p99_s": quantile_ns(histogram, 0.99) / 1e9,
        "max_s": histogram.max_ns / 1e9,
        "buckets": [(lower_ns / 1e9, upper_ns / 1e9, count) for lower_ns, upper_ns, count in bounds],
    }


def _sampler(info: RunInfo) -> dict[str, object]:
    plan = info.plan
    return {
        "name": plan.sampler,
        "version": info.sampler_version,
        "rate_requested_hz": plan.rate_hz,
        "rate_achieved_hz": info.achieved_hz,
        "sample_each": plan.sample_each,
        "blocking": plan.blocking,
        "idle": plan.idle,
        "gil": plan.gil,
        "native": plan.native,
        "subprocesses": plan.subprocesses,
        "async_stacks": plan.async_stacks,
        "scope": plan.scope,
        "max_duration_s": plan.max_duration_s,
    }


REPORT_SCHEMA = "profkit.report/1"
RUNS_SCHEMA = "profkit.runs/1"
REMOVED_SCHEMA = "profkit.removed/1"
PUSHED_SCHEMA = "profkit.pushed/1"
IMPORTED_SCHEMA = "profkit.imported/1"


def sampled_json(runs: Sequence[Run], options: ReportOptions = DEFAULTS, terminal: Terminal = PIPE) -> str:
    """Return the report of the first run; raise `UsageError` if it lacks the requested thread."""
    return "".join(sampled_json_parts(runs, options, terminal))


def sampled_json_parts(
    runs: Sequence[Run], options: ReportOptions = DEFAULTS, _terminal: Terminal = PIPE
) -> Iterator[str]:
    """Return the text of `sampled_json` in pieces; raises as it does, at once."""
    run = runs[0]
    report = build_report(run, options, whole_tree=True)
    tables = build_tables(report)
    used = usage(sampled_points(run))
    text = dumps(
        REPORT_SCHEMA,
        {
            "run": {
                **run_object(run.info),
                **({} if run.merged is None else {"process": None}),
                "notes": note_objects(run_notes(run)),
            },
            "merged": None if run.merged is None else merged_object(run.merged),
            "resources": None if used is None else dataclasses.asdict(used),
            "summary": list(summary(report)) if report.scale.total else [],
            "unit": report.scale.unit.value,
            "value": None
            if report.run.profile is None or report.run.profile.value is None
            else report.run.profile.value.value,
            "weight_s": report.scale.weight_s,
            "stated_totals": report.stated,
            "activity": {"shown": options.activity.value, **dataclasses.asdict(report.activity)},
            "functions": flat_objects(tables.functions),
            "lines_elsewhere": tables.lines_elsewhere,
            "lines": flat_objects(tables.lines),
            "threads": flat_objects(report.threads),
            **({} if run.trace is None else {"trace": trace_object(run.trace, options)}),
        },
    )
    least = (report.options.min_share or 0.0) * report.scale.total
    depth = MAX_DEPTH if report.options.depth is None else report.options.depth
    tree = tree_parts(report.tree, report.is_library, least, depth)
    return chain([f'{text.removesuffix("}")},\n "tree": '], tree, ["}"])


def runs_json(infos: Iterable[AnyInfo], unprofiled: Iterable[UnprofiledGroup] = ()) -> str:
    """Return a list of runs without samples and numbers, and the unprofiled processes by reason."""
    return "".join(runs_json_parts(infos, unprofiled))


def runs_json_parts(infos: Iterable[AnyInfo], unprofiled: Iterable[UnprofiledGroup] = ()) -> Iterator[str]:
    """Yield the text of `runs_json` in pieces, run by run, since there may be very many."""
    yield from _list_parts(dumps(RUNS_SCHEMA, {}), "runs", infos)
    yield f',\n "unprofiled": {json.dumps(unprofiled_objects(unprofiled), allow_nan=False)}}}'


def removed_json_parts(infos: Iterable[AnyInfo], *, dry_run: bool) -> Iterator[str]:
    """Yield the JSON of runs that were removed, or would be, in pieces."""
    yield from _list_parts(dumps(REMOVED_SCHEMA, {"dry_run": dry_run}), "removed", infos)
    yield "}"


def _list_parts(head: str, name: str, infos: Iterable[AnyInfo]) -> Iterator[str]:
    yield f"{head.removesuffix('}')},\n {json.dumps(name)}: ["
    for number, info in enumerate(infos):
        yield f"{', ' if number else ''}{json.dumps(listed_object(info), allow_nan=False)}"
    yield "]"


def pushed_json(to: str, sent: int, known: int, recording: int) -> str:
    """Return how many sessions and runs were sent, were there already, and are still being recorded."""
    return dumps(PUSHED_SCHEMA, {"to": to, "sent": sent, "known": known, "recording": recording})


def imported_json(infos: Iterable[AnyInfo]) -> str:
    """Return the runs that files held, both new and known ones."""
    return dumps(IMPORTED_SCHEMA, {"imported": [listed_object(info) for info in infos]})


def flat_objects(rows: Sequence[DataclassInstance]) -> list[dict[str, object]]:
    """Return rows whose fields are plain values; `dataclasses.asdict` copies each value."""
    names = [field.name for field in dataclasses.fields(rows[0])] if rows else []
    return [{name: getattr(row, name) for name in names} for row in rows]


def dumps(schema: str, parts: Mapping[str, object]) -> str:
    """Return a report's object: its schema, then its parts; raise ValueError for NaN and infinity."""
    # One line per part keeps the object readable; the parts themselves can be large.
    lines = [f"{json.dumps(name)}: {json.dumps(value, allow_nan=False)}" for name, value in parts.items()]
    return "{" + ",\n ".join([f'"schema": {json.dumps(schema)}', *lines]) + "}"
