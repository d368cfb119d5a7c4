"""Everything about a run but its samples, or its numbers one by one, as a JSON object."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

from profkit.model.histogram import Histogram, bucket_bounds_ns
from profkit.model.measurement import AnyInfo, Doubt, MeasuredInfo, OrderInfo
from profkit.model.run import Imported, RunInfo
from profkit.model.session import ProcessInfo, SessionState
from profkit.render.words import iso_moment
from profkit.stats import quantile_ns

SAMPLED = "sampled"
"""The mode of runs that were recorded, beside those that an order can have."""


def mode_word(info: AnyInfo) -> str:
    """How the run came to be: `sampled`, `timer`, `callgrind` or `timer+callgrind`."""
    return info.order.mode.value if isinstance(info, MeasuredInfo) else SAMPLED


def listed_object(info: AnyInfo) -> dict[str, object]:
    """A run as lists have it; `mode` tells which fields there are."""
    fields = measured_object(info) if isinstance(info, MeasuredInfo) else run_object(info)
    return {"mode": mode_word(info), **fields}


def measured_object(info: MeasuredInfo) -> dict[str, object]:
    """The measured run: what was measured and how, the figures that stand for it, who asked for it."""
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
        "quality": quality_object(info.doubts, trusted=info.error is None and not info.doubts),
        **order_object(info.order),
        "process": process_object(info.process),
        "notes": list(info.notes),
        "error": info.error,
    }


def order_object(order: OrderInfo) -> dict[str, object]:
    """What was measured and how, but its label."""
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
    }


def process_object(process: ProcessInfo) -> dict[str, object]:
    """The process, without the seal: that is for this user's own store alone."""
    fields = dataclasses.asdict(process)
    del fields["seal"]
    return fields


def quality_object(doubts: Iterable[Doubt], *, trusted: bool) -> dict[str, object]:
    """Whether numbers are to be trusted, and if not, why."""
    return {"trusted": trusted, "doubts": [{"flag": doubt.flag.value, "why": doubt.why} for doubt in doubts]}


def run_object(info: RunInfo) -> dict[str, object]:
    """The run: what was profiled, its calls, its sampling, its process; durations in seconds."""
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
        "errors": info.errors,
        "session": {"id": info.session, "recorded_s": info.session_s, "gap_s": info.gap_s},
        "truncated": info.truncated,
        "imported": _imported(info.imported),
        "process": process_object(info.process),
        "tags": list(info.region.tags),
        "user": info.region.user,
        "env": dict(info.region.env),
        "links": [{"what": what, "url": url} for what, url in info.links],
        "notes": list(info.notes),
        "error": info.error,
    }


def _imported(source: Imported | None) -> dict[str, object] | None:
    return None if source is None else {**dataclasses.asdict(source), "unit": source.unit.value}


def _region(info: RunInfo) -> dict[str, object]:
    region, key = info.region, info.region.key
    return {
        "version": region.id,
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
        "durations": _durations(info.durations),
    }


def _durations(histogram: Histogram) -> dict[str, object] | None:
    """Quantiles are known to within a bucket; `buckets` are (shortest, below, count)."""
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
        "rate_asked_hz": plan.rate_hz,
        "rate_achieved_hz": info.achieved_hz,
        "sample_each": plan.sample_each,
        "blocking": plan.blocking,
        "idle": plan.idle,
        "native": plan.native,
        "subprocesses": plan.subprocesses,
        "scope": plan.scope,
        "max_duration_s": plan.max_duration_s,
    }
