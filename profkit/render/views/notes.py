"""Sentences for the notes on runs, from their codes and figures."""

from __future__ import annotations

import shlex
from collections.abc import Mapping

from profkit.model.notes import Note, NoteCode
from profkit.render.formatting import count, moment
from profkit.render.views import sentences
from profkit.render.views.sentences import Figures, Sentence
from profkit.units import Unit, format_duration, short_id


def note_text(note: Note) -> str:
    """Return a note's sentences; names in them, which come from the profiled program, are raw."""
    return sentences.text(note, NOTES)


_INSIDE = {
    "interpreter": "by a subinterpreter, which reads all threads as a sampler outside would.",
    "timer": (
        "by a signal handler of the main thread: C code of the main thread counts for the line that called "
        "it, and other threads are seen mostly where they release the GIL."
    ),
    "thread": (
        "by one of its threads: the others are seen mostly where they release the GIL, so waiting and some C "
        "code have too many samples, and pure Python too few."
    ),
}
_INSIDE_WITHOUT_GIL = _INSIDE | {
    "timer": (
        "by a signal handler of the main thread, which stops the other threads for a moment: C code counts "
        "for the line that called it."
    ),
    "thread": (
        "by one of its threads, which stops the others for a moment: C code counts for the line that called "
        "it, and waiting may have too many samples."
    ),
}


def _sampled_inside(figures: Figures) -> str:
    ways = _INSIDE if figures["gil"] else _INSIDE_WITHOUT_GIL
    text = f"Sampled from inside the process, {ways[str(figures['kind'])]}"
    return figures.fill(f"{text} Better ways failed: {{detail:sentence}}") if figures["detail"] else text


def _rounds_dropped(figures: Figures) -> str:
    last = ", most of them after one in {functions}" if figures["functions"] else ""
    share = "{dropped/rounds:percent1} of the sampling rounds have no samples"
    return figures.fill(f"{share}{last}: the stack kept changing while it was read.")


def _children_unsampled(figures: Figures) -> str:
    processes, used = figures.integer("processes"), format_duration(figures.number("cpu_s"))
    who = count(processes, "child process") if processes else "Child processes"
    was = "was" if processes == 1 else "were"
    return (
        f"{who} used {used} of CPU time and {was} not sampled: use --subprocesses (in code, "
        "subprocesses=True)."
    )


def _no_python_frames(figures: Figures) -> str:
    more = "" if figures["native"] else "; native=True shows the machine code that runs"
    return f"{figures['function']!r} has no Python frames. Its calls and times are exact{more}."


_WEIGHTS = {Unit.INSTRUCTIONS.value: "instructions are", Unit.NANOSECONDS.value: "time is"}


def _tree_approximated(figures: Figures) -> str:
    weights = _WEIGHTS.get(str(figures["unit"]), "weight is")
    return (
        f"The file has no stacks, so the call tree is an approximation: a function's {weights} split among "
        "its callers in proportion, and recursion is shown once."
    )


def _other_python(figures: Figures) -> str:
    said = _other(f"This function or block, with Python {figures['python']},", figures)
    return f"{said} `profkit compare` matches their functions."


def _other_place(figures: Figures) -> str:
    return _other(f"The same code, at {figures['file']}:{figures['line']},", figures)


def _other(what: str, figures: Figures) -> str:
    more = figures.integer("more")
    others = f" The label also has {count(more, 'other region')}." if more else ""
    when = moment(figures.integer("started_ns"))[:19]
    return f"{what} ran at {when}: `profkit report {short_id(str(figures['run']))}`.{others}"


def _more_samples(figures: Figures) -> str:
    label = shlex.quote(str(figures["label"]))
    known = "runs" in figures
    runs = f"{figures['runs']} runs" if known else f"at least {figures['runs_at_least']} runs"
    return (
        f"This run has {count(figures.integer('samples'), 'sample')}. `profkit report {label} --all` merges "
        f"{runs} with {count(figures.integer('all_samples'), 'sample')}."
    )


_CALLERS = "Callers of short functions may be wrong"
EXACT = "Pass blocking=True for exact stacks."
"""Fix of notes on inexact stacks."""
SET_RATE = "Set rate= for another rate."
"""Fix of notes on a low rate."""
_SOCKETS = "sockets with a timeout (SO_RCVTIMEO or SO_SNDTIMEO), which starts again after each stop"
_STACKS = "{frames:count frame} of {threads:count thread}"
_LOST = "The record of this region is lost"

NOTES: Mapping[NoteCode, Sentence] = {
    NoteCode.NONBLOCKING_COST: (
        "Sampled without stopping the program: stopping it {rate_hz} times per second to read "
        f"{_STACKS} would have taken {{share:percent}} of its time. {_CALLERS}. {EXACT}"
    ),
    NoteCode.NONBLOCKING_BUSY: (
        "Sampled without stopping the program: the machine was busy, and after each of "
        "{rate_hz} stops per second the program would have waited for a processor, "
        f"{{wait_s:duration}} on average. {_CALLERS}. {EXACT}"
    ),
    NoteCode.NONBLOCKING_IDLE: (
        "Sampled without stopping the program: idle=False leaves out waiting threads, and a stop would wake "
        f"them. {_CALLERS}. {EXACT}"
    ),
    NoteCode.NONBLOCKING_SOCKETS: f"Sampled without stopping the program: it has {_SOCKETS}. {_CALLERS}.",
    NoteCode.BLOCKING_NOT_KEPT: (
        f"Sampled without stopping the program, despite blocking=True: it has {_SOCKETS} and might never "
        f"expire. {_CALLERS}."
    ),
    NoteCode.BLOCKING_COST: (
        "Sampling stopped the program for about {share:percent} of its time. A lower rate costs less."
    ),
    NoteCode.THREADS_WOKEN: (
        "Some samples of waiting threads are counted as working, because a stop wakes them. Leave blocking "
        "at 'auto' to avoid this."
    ),
    NoteCode.TIMEOUTS_RESTART: (
        f"The program has {_SOCKETS} for a sample and might never expire. Leave out native=True."
    ),
    NoteCode.SHARED_HOST: (
        "Sampled {rate_hz} times per second, because {samplers:count other sampler} ran on this host at the "
        f"start, and all samplers together may use {{share:percent}} of its processors. {SET_RATE}"
    ),
    NoteCode.CROWDED_HOST: (
        "Sampled {rate_hz} times per second, because {processes:.1f} processes per processor were ready to "
        f"run at the start. {SET_RATE}"
    ),
    NoteCode.LONG_ROUNDS: (
        "Sampled {rate_hz} instead of {usual_hz} times per second, because a sample takes long: "
        f"{_STACKS} were read at the start. {SET_RATE}"
    ),
    NoteCode.CPU_TIME_ONLY: (
        "strobeclient samples processor cycles, so its samples do not include time spent waiting."
    ),
    NoteCode.STARTED_TWICE: (
        "{sampler} was started twice for segment {segment}, because the first start failed: {detail:sentence}"
    ),
    NoteCode.SAMPLER_INTERRUPTED: "Sampling was interrupted: {detail:sentence}",
    NoteCode.SAMPLER_REPLACED: "{by} sampled instead of {sampler}: {detail:sentence}",
    NoteCode.SAMPLED_INSIDE: _sampled_inside,
    NoteCode.SAMPLED_RARELY: (
        "At times only {rate_hz:.1f} samples per second were taken instead of "
        "{requested_hz:g}, because each took long, as with deep stacks or many threads. "
        "Each counts for the time since the last one."
    ),
    NoteCode.NOT_SAMPLED: "Only calls and wall times were recorded, without samples: {detail:sentence}",
    NoteCode.STACKS_CUT: (
        "The reader of Python 3.14 omits the callers of Python code that C code calls, such as the key of "
        "sorted(): samples of such code may be missing from this run. sampler='pyspy' has whole stacks."
    ),
    NoteCode.ROUNDS_REPEATED: (
        "In {repeated/rounds:percent} of the sampling rounds the stack changed while it was read, and was "
        "read again. So functions of a few microseconds have "
        f"too few samples, and their callers too many. {EXACT}"
    ),
    NoteCode.ROUNDS_DROPPED: _rounds_dropped,
    NoteCode.ROUNDS_PARTIAL: (
        "{partial/rounds:percent1} of the sampling rounds have "
        "only the threads that were on a processor: another one had no Python code yet, or none any more, so "
        "that the others could not be read. Waiting has too few samples."
    ),
    NoteCode.CHILDREN_LEFT_OUT: "{processes:count child process} could not be sampled: {detail:sentence}",
    NoteCode.CHILDREN_UNSAMPLED: _children_unsampled,
    NoteCode.SAMPLER_LATE: "The sampler fell {behind_s:.1f} s behind and took fewer samples than requested.",
    NoteCode.SEGMENT_FAILED: "Segment {segment} ended with an error: {detail:sentence}",
    NoteCode.OTHER_OPTIONS: "{label!r} requested other sampler options than this session has.",
    NoteCode.SAME_LINES: (
        "Samples of {label!r} and {other!r} show the same lines of {function}, so each run has the samples "
        "of both. Give the statement one label, or use blocks of more than a second."
    ),
    NoteCode.DURATION_REACHED: (
        "Sampling ended before the session, after max_profile_duration_sec "
        "({max_duration_s:g} s). Later calls are counted, but not sampled."
    ),
    NoteCode.MINUTES_KEPT: (
        "The session was long: samples of evenly spread minutes are kept, 10 to 20 minutes in all. "
        "max_profile_duration_sec=N keeps all samples of the first N seconds."
    ),
    NoteCode.PROCESS_ENDED: (
        "The process ended early, as by os._exit or a signal. Calls in its last second are not counted."
    ),
    NoteCode.FILE_UNREADABLE: "{file} cannot be read; its content is missing.",
    NoteCode.MANIFEST_UNREADABLE: (
        "The manifest of this session cannot be read. Its samples and calls were recovered; its process, "
        "host, command line and sampler options are unknown."
    ),
    NoteCode.REGION_FROM_SAMPLES: (
        f"{_LOST}. Its label and function are known from its samples; its kind, the line of its definition "
        "and its tags are not."
    ),
    NoteCode.REGION_FROM_CALLS: f"{_LOST}, and no sample names it. Its calls were counted.",
    NoteCode.REGIONS_LOST: (
        "Records of regions are lost. These are the session's samples outside all known regions: those of "
        "the lost regions, and those of code outside any region."
    ),
    NoteCode.TORN: (
        '{torn/samples:percent1} of the samples were inconsistent ("torn") and were discarded; about as many '
        f"go unnoticed. {EXACT}"
    ),
    NoteCode.CALLS_COMPILED: (
        "Calls of {label!r} that torch compiled are not seen. Decorate the function that is "
        "called uncompiled."
    ),
    NoteCode.NO_CALL_FINISHED: (
        "No call had finished when this was recorded; the samples are from calls that were in progress."
    ),
    NoteCode.NO_PYTHON_FRAMES: _no_python_frames,
    NoteCode.IN_PROCESS: "Timed in the program's own process, not isolated: {detail:sentence}",
    NoteCode.CALL_GRAPH: (
        "The file is a call graph. Self and total of functions are those in the file; lines are where "
        "functions begin."
    ),
    NoteCode.CALL_GRAPH_RECURSION: (
        "The file is a call graph. Self and total of functions are those in the file, as "
        "`callgrind_annotate --inclusive=yes` shows them: each call of a recursion counts again, so a total "
        "can exceed 100 %."
    ),
    NoteCode.TREE_APPROXIMATED: _tree_approximated,
    NoteCode.STACKS_APPROXIMATED: (
        "The profile is of a call graph, which has no stacks, so the call tree is an approximation."
    ),
    NoteCode.STACKS_SHORTENED: lambda figures: (
        "Some stacks are too deep to be stored whole. They have their "
        f"{figures.integer('frames') // 2} outermost and innermost calls, and `<calls left out>` between "
        "them. Functions that were called only in between have too small a total."
    ),
    NoteCode.EVENT_COUNTED: "Weights are counts of the event {event}.",
    NoteCode.SHORT_CALLS_LEFT_OUT: (
        "pyinstrument's JSON has the tree that its reports show: it leaves out short calls, and lines are "
        "where functions begin. A saved session (-o FILE.pyisession) has all samples."
    ),
    NoteCode.SHARES_ONLY: (
        "Collapsed stacks do not contain the time between samples, so reports show only shares."
    ),
    NoteCode.FREED_MEMORY_LEFT_OUT: "Freed memory is left out; weights are allocated memory.",
    NoteCode.TIME_ONLY: "Of the metrics in the file, time is kept; idle and memory are left out.",
    NoteCode.VALUES_LEFT_OUT: (
        "Of the values in the file, {kept} is kept. `profkit import --value` imports another: {left_out}."
    ),
    NoteCode.LABELS_LEFT_OUT: "Labels of samples are left out: {labels}.",
    NoteCode.TIMELINE_LEFT_OUT: (
        "Threads with JavaScript samples show these. Their other events, such as layout and painting, are "
        "left out."
    ),
    NoteCode.OTHER_VERSION: lambda figures: _other("Another version of this code", figures),
    NoteCode.OTHER_PYTHON: _other_python,
    NoteCode.OTHER_PLACE: _other_place,
    NoteCode.OTHER_CODE: lambda figures: _other("Other code with this label", figures),
    NoteCode.MORE_SAMPLES: _more_samples,
    NoteCode.COMPREHENSIONS_INLINED: (
        "Python 3.12 and later run list, set and dict comprehensions as part of the function around them; "
        "those of earlier versions are counted as part of it, too."
    ),
    NoteCode.JOBS_MERGED: "Runs of {jobs} jobs are merged. `profkit report --job` shows one job.",
    NoteCode.EXIT_CODES_IGNORED: (
        "{failed} of {executions:count execution} failed, the last one "
        "with exit code {exit_code}; they were measured nevertheless."
    ),
    NoteCode.RUN_FAILED: "The run failed: {detail:sentence}",
    NoteCode.MORE_NOTES: "{notes:count more note}: `profkit report ID` shows the notes of one run.",
}
