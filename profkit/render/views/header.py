"""Header of a sampled run: its facts, which are details or warnings, and why it may have no samples."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from profkit.model.histogram import quantile_ns
from profkit.model.measurement import AnyInfo, MeasuredInfo
from profkit.model.notes import Note, NoteCode
from profkit.model.region import CALLS_ONLY, MEMRAY, RegionKind
from profkit.model.run import Imported, Run, RunInfo
from profkit.model.session import ProcessInfo, SessionState
from profkit.render.document import Block, Fact, Facts, Section, Sentences, Title
from profkit.render.escape import visible
from profkit.render.formatting import (
    Part,
    Tone,
    amount,
    columns,
    count,
    moment,
    percent,
    place,
    rate,
    sparkline,
)
from profkit.render.views.jobs import job_parts, runs_of_jobs
from profkit.render.views.measurement_warnings import note_texts
from profkit.render.views.memory import memory_lines
from profkit.render.views.merged import (
    CALLS_ONLY_TEXT,
    clock_word,
    command_parts,
    cpu_shares,
    env_parts,
    gap_parts,
    launch_parts,
    merged_notes,
    resource_parts,
    runs_parts,
    sampler_parts,
    session_parts,
    started_parts,
    tag_parts,
    usage,
    user_parts,
    version_parts,
)
from profkit.transforms.unsampled_time import sampled_points
from profkit.units import format_bytes, format_duration, short_id

_SLOW = 0.8  # Part of the requested rate below which a warning is shown.
_MANY_ERRORS = 0.01
"""Samples that were lost, as a part of those that were not, above which they are a warning."""
_COLUMNS = 16
_MIN_POINTS = 4
"""Minimum number of resource points for a curve."""
_SUSPENDING = (RegionKind.COROUTINE, RegionKind.GENERATOR, RegionKind.ASYNC_GENERATOR)


DETAILS = frozenset(
    ("sampler", "tracker", "session", "resources", "process", "command", "tags", "user", "env")
)
"""Names of the facts about the sampler and the process."""


def head(run: Run, known: Sequence[Fact], sentences: Sequence[str] = ()) -> Iterator[Block]:
    """Yield a run's title, its sentences, and those of its facts that are about its calls and samples."""
    merged = run.merged
    identity = f"run {short_id(run.info.id)}" if merged is None else f"{runs_of_jobs(merged.infos)}, merged"
    yield Title(run.info.label, identity, "Profile of")
    if sentences:
        yield Sentences(sentences)
    yield Facts([fact for fact in known if fact.name not in DETAILS], gap=bool(sentences))


def details(known: Sequence[Fact]) -> Iterator[Block]:
    """Yield the facts about the sampler and the process, which a report shows last."""
    found = [fact for fact in known if fact.name in DETAILS]
    if found:
        yield Section("Details")
        yield Facts(found)


def facts(run: Run) -> tuple[Fact, ...]:
    """Return the header lines of a run, escaped."""
    facts_by_name = _all(run) if run.info.imported is None else _of_imported(run, run.info.imported)
    return tuple(Fact(name, tuple(parts)) for name, parts in facts_by_name if parts)


def _all(run: Run) -> Iterator[tuple[str, list[Part]]]:
    info, merged = run.info, run.merged
    infos = merged.infos if merged else (info,)
    yield info.region.kind.value, _where(info)
    yield "runs", [*runs_parts(merged), *launch_parts(merged)] if merged else []
    yield "job", job_parts(infos)
    yield "started", started_parts(merged) if merged else _started(info)
    yield "calls", _calls(info)
    yield "one call", _durations(info)
    yield "active", _active(info)
    if info.plan.sampler == MEMRAY:
        yield from memory_lines(run)
    else:
        yield "samples", _samples(run)
        yield "sampler", sampler_parts(merged) if merged else _sampler(info)
        yield "session", session_parts(info, merged) if merged else _session(info)
    yield "resources", resource_parts(merged) if merged else _resources(run)
    yield "process", version_parts(merged) if merged else process_parts(info.process)
    yield "command", command_parts([one.process for one in infos])
    yield "tags", tag_parts(infos)
    yield "user", user_parts(infos)
    yield "env", env_parts(infos)
    for what, url in info.links:
        yield "link", [Part(visible(what)), Part(visible(url), Tone.STRONG)]
    for text in note_texts(run_notes(run)):
        yield "note", [Part(visible(text), Tone.WARN)]
    if info.error is not None and not merged:
        yield "error", [Part(visible(info.error), Tone.BAD)]


def run_notes(run: Run) -> tuple[Note, ...]:
    """Return the notes on a run, each once."""
    # A run's notes include those of its plan, unless it was made without its session's notes.
    plan = () if run.merged else run.info.plan.notes
    merged = merged_notes(run.merged) if run.merged else ()
    return tuple(dict.fromkeys((*run.info.notes, *plan, *merged, *_without_frames(run))))


def _without_frames(run: Run) -> Iterator[Note]:
    """Yield a note if neither the function nor its callees have Python frames."""
    info, profile = run.info, run.profile
    if info.imported is not None or not info.region.is_frameless or profile is None or not profile.samples:
        return
    # Usually one of the first frames is.
    if any(_is_python(profile.frames[number].file) for stack in profile.stacks for number in stack[1:]):
        return
    native = int(info.plan.native)
    yield Note.of(NoteCode.NO_PYTHON_FRAMES, function=info.region.key.qualname, native=native)


def _is_python(file: str) -> bool:
    return file.endswith(".py") or file.startswith("<")


def _of_imported(run: Run, source: Imported) -> Iterator[tuple[str, list[Part]]]:
    """Yield the facts of an imported run: its origin and the content of the file."""
    info = run.info
    yield "imported", [Part(visible(source.file or "stdin"), Tone.STRONG), Part(f"format {source.format}")]
    yield "tool", [Part(visible(source.tool))] if source.tool else []
    yield "taken", [Part(moment(info.started_ns))]
    yield "total", _total(run, source)
    yield "process", [Part(f"pid {info.process.pid}")] if info.process.pid else []
    for text in note_texts(info.notes):
        yield "note", [Part(visible(text), Tone.WARN)]


def _total(run: Run, source: Imported) -> list[Part]:
    parts = [Part(amount(source.total, source.unit), Tone.STRONG if source.total else Tone.WARN)]
    profile = run.profile
    if profile is not None and profile.period_ns and source.total:
        parts.append(_sampled_time(source.total * profile.period_ns / 1e9, len(profile.threads)))
        parts.append(Part(f"every {format_duration(profile.period_ns / 1e9)}"))
    elif profile is not None and len(profile.threads) > 1:
        parts.append(Part(count(len(profile.threads), "thread")))
    return parts


def _sampled_time(sampled_s: float, threads: int) -> Part:
    """Return the time that samples represent; that of several threads is no wall time."""
    time = format_duration(sampled_s)
    return Part(f"{time} sampled" if threads < 2 else f"{time} summed over {count(threads, 'thread')}")


def _where(info: RunInfo) -> list[Part]:
    region, key = info.region, info.region.key
    at = place(region.file, key.line, info.process.cwd)
    if region.kind in (RegionKind.PROGRAM, RegionKind.REQUEST):
        return [Part(visible(at or key.qualname), Tone.STRONG)]
    return [Part(visible(at), Tone.STRONG), Part(visible(f"{key.module}.{key.qualname}"))]


def _started(info: RunInfo) -> list[Part]:
    state = {
        SessionState.SUCCESS: [],
        SessionState.FAILED: [Part("FAILED", Tone.BAD)],
        SessionState.ENDED_EARLY: [Part("ended early", Tone.WARN)],
    }.get(info.state, [Part("still recording", Tone.WARN)])
    return [Part(moment(info.started_ns)), *state]


def _calls(info: RunInfo) -> list[Part]:
    parts = [Part(count(info.calls), Tone.STRONG), Part(f"{format_duration(info.wall_s)} wall time")]
    if info.nested:
        parts.append(Part(f"{count(info.nested)} of them recursive, whose time counts once"))
    if info.raised:
        parts.append(Part(f"{count(info.raised)} raised", Tone.WARN))
    if info.skipped:
        parts.append(Part(f"{count(info.skipped)} more not profiled"))
    if info.traced_away:
        parts.append(Part(f"compiled away {count(info.traced_away, 'time')}", Tone.WARN))
    return parts


def _durations(info: RunInfo) -> list[Part]:
    durations = info.durations
    if durations.count < 2:
        return []
    shortest, longest = (format_duration(ns / 1e9) for ns in (durations.min_ns, durations.max_ns))
    quantiles = {f"p{q * 100:.0f}": quantile_ns(durations, q) / 1e9 for q in (0.5, 0.9, 0.99)}
    return [
        Part(f"min {shortest} {columns(durations, _COLUMNS)} max {longest}"),
        *(Part(f"{name} {format_duration(duration_s)}") for name, duration_s in quantiles.items()),
    ]


def _active(info: RunInfo) -> list[Part]:
    if info.region.kind not in _SUSPENDING and not info.suspended_ns:
        return []
    share = f" ({info.suspended_s / info.wall_s:.0%})" if info.wall_s else ""
    return [
        Part(format_duration(info.active_s)),
        Part(f"suspended {format_duration(info.suspended_s)}{share.replace('%', ' %')}"),
    ]


def _samples(run: Run) -> list[Part]:
    info = run.info
    if run.profile is None and info.links:
        return [Part(visible(f"kept by {info.plan.sampler}"))]
    parts = [Part(count(info.samples), Tone.STRONG if info.samples else Tone.WARN)]
    if run.profile is not None and run.profile.period_ns and info.samples:
        parts.append(_sampled_time(info.samples * run.profile.period_ns / 1e9, len(run.profile.threads)))
    share = f" ({percent(info.torn_share, 1000)})" if info.torn else ""
    parts.append(Part(f"{count(info.torn)} torn{share}", Tone.WARN if info.is_much_torn else Tone.PLAIN))
    are_many = info.errors > _MANY_ERRORS * info.samples
    parts.append(Part(count(info.errors, "error"), Tone.WARN if are_many else Tone.PLAIN))
    return parts


def _sampler(info: RunInfo) -> list[Part]:
    plan = info.plan
    if plan.sampler == CALLS_ONLY:
        return [Part(CALLS_ONLY_TEXT, Tone.STRONG)]
    requested = rate(plan.rate_hz)
    if plan.sample_each is not None:
        requested = f"{requested} (every {plan.sample_each:,.0f} cycles)"
    parts = [
        Part(visible(f"{plan.sampler} {info.sampler_version or ''}".strip()), Tone.STRONG),
        Part(f"{requested} requested"),
        _achieved(info),
        Part("blocking" if plan.blocking else "nonblocking"),
        Part(clock_word(plan)),
    ]
    extras = {
        "native frames": plan.native,
        "with subprocesses": plan.subprocesses,
        "with awaiting tasks": plan.async_stacks,
        "every thread": plan.scope == "process" or info.region.all_threads,
    }
    return [*parts, *(Part(words) for words, holds in extras.items() if holds)]


def _achieved(info: RunInfo) -> Part:
    if info.achieved_hz is None:
        return Part("achieved rate unknown")
    slow = info.achieved_hz < _SLOW * info.plan.rate_hz
    return Part(f"{rate(info.achieved_hz)} achieved", Tone.WARN if slow else Tone.PLAIN)


def _session(info: RunInfo) -> list[Part]:
    parts = [Part(visible(info.session)), Part(f"{format_duration(info.session_s)} recorded")]
    return [*parts, *gap_parts(info)]


def _resources(run: Run) -> list[Part]:
    points = sampled_points(run)
    used = usage(points)
    if used is None:
        return []
    share = f"CPU {(used.cpu_share or 0.0) * 100:.0f} %{' with child processes' * run.info.plan.subprocesses}"
    cpu = [] if used.cpu_share is None else [_curve(share, cpu_shares(points))]
    memory = f"peak RSS {format_bytes(used.peak_rss_bytes)}"
    return [
        *cpu,
        _curve(memory, [point.rss_bytes for point in points]),
        Part(count(used.peak_threads, "thread")),
    ]


def _curve(text: str, values: Sequence[float]) -> Part:
    """Return the text with a sparkline, if there are enough values."""
    return Part(text if len(values) < _MIN_POINTS else f"{text} {sparkline(values, _COLUMNS)}".rstrip())


def process_parts(process: ProcessInfo) -> list[Part]:
    """Return the process's pid, host and versions."""
    versions = (("Python", process.python), ("torch", process.torch), ("profkit", process.profkit))
    parts = [f"pid {process.pid} on {process.host}" if process.host else f"pid {process.pid}"]
    parts += [f"{name} {version}" for name, version in versions if version is not None]
    parts += [f"git {process.git_commit[:10]}"] if process.git_commit is not None else []
    return [Part(visible(part)) for part in parts]


_MANY = 10
"""Number of expected samples from which on chance does not explain their absence."""


def why_no_samples(run: Run) -> str:
    """Return the reason why a run has no samples, and how to get some."""
    info = run.info
    if info.imported is not None:
        return "There are no samples in the file that was imported."
    if info.links and run.profile is None:
        return f"{info.plan.sampler} stores the samples itself: see the links above."
    if info.error is not None:
        return "There are no samples: the sampler failed, see the error above."
    if info.plan.sampler == CALLS_ONLY:
        reason = "the notes above say why" if run_notes(run) else "the option sampler='none' takes none"
        return f"There are no samples: {reason}. Calls and wall times are complete."
    if info.plan.sampler == MEMRAY:
        return _nothing_tracked(info)
    if not info.state.is_final:
        return "There are no samples yet: a sampler writes them when its segment ends, or the session."
    if info.traced_away and not info.calls:
        return "There are no samples: every call was compiled away. Profile the caller of the compiled code."
    return _all_torn(info) if info.torn else _none_seen(info, bool(run_notes(run)))


def _nothing_tracked(info: RunInfo) -> str:
    """Return the reason why a run of memory has no allocations to show."""
    if info.memory is not None:
        return "There is nothing to show: the tracked calls have no such allocations."
    if info.skipped and not info.calls:
        return "No call was tracked: all were made while another call was, and a process has one tracker."
    return "The memory of no call is known: the notes above say why, or a call is still going on."


def _all_torn(info: RunInfo) -> str:
    """Return the reason why all samples were torn."""
    return (
        f'There are no samples: all {count(info.torn)} were inconsistent ("torn"). Pass blocking=True to '
        "stop the program for each sample."
    )


def _none_seen(info: RunInfo, noted: bool) -> str:
    expected = info.wall_s * (info.achieved_hz or info.plan.rate_hz)
    given = (
        f"There are no samples: {format_duration(info.wall_s)} of calls at {rate(info.plan.rate_hz)} give "
        f"{expected:.1f} samples on average."
    )
    if expected < _MANY:
        return f"{given} Profile longer or more calls, or raise `rate`."
    if noted:
        return f"{given} The notes above say what may have been lost."
    if not info.plan.idle:
        why = "gil=True leaves out time without the GIL" if info.plan.gil else "idle=False leaves out waiting"
        return f"{given} The calls waited, and {why}."
    return f"{given} None of those taken was in a call; the sampler may have lost some."


MEMORY = "memory"
SAMPLED = "sampled"
"""Mode of sampled runs; measured runs have that of their order."""


def mode_word(info: AnyInfo) -> str:
    """Return the mode of a run: `sampled`, `memory`, `timer`, `callgrind` or `timer+callgrind`."""
    if isinstance(info, MeasuredInfo):
        return info.order.mode.value
    return MEMORY if info.plan.sampler == MEMRAY else SAMPLED
