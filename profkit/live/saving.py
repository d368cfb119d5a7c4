"""Run of what the live view has sampled, as `profkit attach` would have recorded it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from profkit.clock import Clock
from profkit.ingest.read import run_id
from profkit.live.samples import LiveSamples
from profkit.live.source import LiveSource, State
from profkit.model.histogram import histogram_of
from profkit.model.profile import Profile, ProfileBuilder, Sample
from profkit.model.run import Run, RunInfo
from profkit.model.session import ResourcePoint, SamplerPlan, SessionState
from profkit.program.attached import Target, region_of
from profkit.samplers.options import SamplerOptions
from profkit.store.spool import new_session_id
from profkit.transforms.simplify import Reindexer


@dataclass(frozen=True, slots=True)
class Origin:
    """Where the samples of a run come from."""

    target: Target
    options: SamplerOptions
    plan: SamplerPlan
    sampler_version: str | None
    problem: str | None = None
    """Why sampling failed, if it did."""

    @classmethod
    def of(cls, source: LiveSource) -> Origin:
        """Return the origin of a source's samples."""
        failed = source.status.state is State.FAILED
        problem = source.status.problem if failed else None
        return cls(source.target, source.options, source.plan, source.sampler_version, problem)


def run_of(
    samples: LiveSamples, origin: Origin, label: str | None, points: tuple[ResourcePoint, ...], clock: Clock
) -> Run | None:
    """Return the run of all samples since the start or the last reset; None if there are none."""
    began_s, until_s = samples.history.began_s, samples.until_s
    if began_s is None or until_s is None or not samples.overall.samples:
        return None
    process, plan, overall = origin.target.process, origin.plan, samples.overall
    region = region_of(origin.target, origin.options, label)
    session, elapsed_s = new_session_id(process.pid), max(0.0, until_s - began_s)
    started_ns = clock.unix_ns() - round((clock.monotonic_s() - began_s) * 1e9)
    info = RunInfo(
        id=run_id(session, region.id),
        session=session,
        region=region,
        state=SessionState.SUCCESS if origin.problem is None else SessionState.FAILED,
        started_ns=started_ns,
        process=process,
        plan=plan,
        sampler_version=origin.sampler_version,
        durations=histogram_of([round(elapsed_s * 1e9)]),
        achieved_hz=overall.achieved_hz,
        session_s=overall.sampled_s,
        gap_s=max(0.0, elapsed_s - overall.sampled_s),
        samples=overall.samples,
        errors=overall.errors,
        notes=tuple(dict.fromkeys((*plan.notes, *samples.notes))),
        error=origin.problem,
        last_ns=started_ns + round(elapsed_s * 1e9),
    )
    return Run(info, _profile(samples, plan, process.pid), points)


def _profile(samples: LiveSamples, plan: SamplerPlan, pid: int) -> Profile:
    """Return the samples in their order if that is known, with the tables that they use."""
    rate_hz = samples.overall.achieved_hz or plan.rate_hz
    period_s = 1 / rate_hz if rate_hz else 0.0
    history, tables = samples.history, samples.tables
    if history.is_whole:
        taken, starts = tuple(history.samples()), history.starts(period_s)
    else:
        sums = samples.overall.stacks.items()
        taken, starts = tuple(Sample(stack, thread, weight) for (stack, thread), weight in sums), ()
    found = tables.profile_of(taken, ordered=history.is_whole)
    builder = ProfileBuilder()
    reindexer = Reindexer(found, builder)
    for (stack, thread, weight), start in zip(
        found.samples, replace(found, starts=starts).known_starts(), strict=False
    ):
        reindexer.add(found.stacks[stack], thread, weight, start, state=found.state_of(stack))
    built = builder.build(period_ns=period_s * 1e9, ordered=found.ordered)
    threads = tuple(thread if thread.pid else thread._replace(pid=pid) for thread in built.threads)
    return replace(built, threads=threads)
