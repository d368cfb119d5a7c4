"""Display of runs, measurements and comparisons in notebooks: a small HTML report in a frame, light or dark.

The frame is sandboxed: it may run scripts, but can access neither the notebook nor the network.
"""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import replace

from profkit.model.comparison import MeasuredComparison, SampledComparison
from profkit.model.measurement import MeasuredInfo, MeasuredRun, Measurement
from profkit.model.run import Run
from profkit.model.session import ProcessInfo
from profkit.render.escape import short, visible
from profkit.render.formatting import count, percent
from profkit.render.html.comparisons import sampled_comparison_html
from profkit.render.html.measured import measured_html
from profkit.render.html.sampled import sampled_html
from profkit.render.html.samples import thinned
from profkit.render.registry import MEASURED_COMPARISON
from profkit.transforms.simplify import prune
from profkit.transforms.trees import sum_samples
from profkit.units import format_duration, short_id

MIN_SHARE = 0.005
_MAX_STACKS, _MAX_SAMPLES, _MAX_POINTS = 2_000, 20_000, 300
"""Largest profile that is embedded unreduced."""
_SOURCE_BYTES = 60_000
_HEIGHT_PX = 640
_STYLES = """
[data-jp-theme-light="true"] .profkit-page, .vscode-light .profkit-page { color-scheme: light; }
[data-jp-theme-light="false"] .profkit-page, .vscode-dark .profkit-page { color-scheme: dark; }
"""
"""Colour scheme of the frame in themes of JupyterLab and VS Code, which its page prefers to the system's."""
_NOBODY = ProcessInfo(
    pid=0, start_ticks=0, host="", cwd="", argv=(), python="", torch=None, profkit="", git_commit=None
)


def notebook_html(shown: object) -> str | None:
    """Return a frame with the page of a run, measurement or comparison; None for anything else."""
    if isinstance(shown, Run):
        run, notes = _small(shown)
        return _frame(run.info.label, sampled_html((run,), notes=notes, source_bytes=_SOURCE_BYTES))
    if isinstance(shown, MeasuredRun):
        return measured_frame((shown,))
    if isinstance(shown, Measurement):
        page = measured_html((MeasuredRun(_info(shown), shown),), min_share=MIN_SHARE)
        return _frame(shown.order.label, page)
    if isinstance(shown, SampledComparison):
        return _frame(_sides(shown), sampled_comparison_html(_small_comparison(shown)))
    if isinstance(shown, MeasuredComparison):
        return _frame(_sides(shown), MEASURED_COMPARISON.page(shown))
    return None


def measured_frame(runs: Sequence[MeasuredRun]) -> str:
    """Return a frame with the page of measured runs."""
    return _frame(runs[0].info.label, measured_html(runs, min_share=MIN_SHARE))


def notebook_text(shown: object) -> str:
    """Return one line about a run, measurement or comparison."""
    if isinstance(shown, Run):
        info = shown.info
        return visible(
            f"<run {short_id(info.id)} of {info.label}: {count(info.calls, 'call')}, "
            f"{format_duration(info.wall_s)}, {count(info.samples, 'sample')}>"
        )
    if isinstance(shown, MeasuredRun):
        return visible(f"<run {short_id(shown.info.id)} of {shown.measurement or shown.info.label}>")
    if isinstance(shown, SampledComparison | MeasuredComparison):
        return visible(f"<comparison of {_sides(shown)}>")
    return visible(f"<{shown}>")


def _frame(label: str, page: str) -> str:
    title = html.escape(f"profkit: {short(label)}")
    return (
        f"<style>{_STYLES}</style>"
        f'<iframe class="profkit-page" sandbox="allow-scripts" title="{title}" '
        f'style="width: 100%; height: {_HEIGHT_PX}px; border: 0" srcdoc="{html.escape(page)}"></iframe>'
    )


def _small(run: Run) -> tuple[Run, list[str]]:
    """Return the run, reduced to a size for notebooks, and notes on the reduction."""
    profile, notes = run.profile, []
    if profile is not None:
        if len(profile.stacks) > _MAX_STACKS:
            profile = prune(profile, MIN_SHARE)
            notes.append(
                f"Calls with less than {percent(MIN_SHARE, 1000)} of the samples are combined here. "
                f"`profkit report {short_id(run.info.id)} --html` shows all."
            )
        if len(profile.samples) > _MAX_SAMPLES:
            profile = sum_samples(profile)
    return replace(run, profile=profile, resources=thinned(run.resources, _MAX_POINTS)), notes


def _small_comparison(comparison: SampledComparison) -> SampledComparison:
    """Return the comparison, reduced to a size for notebooks: only with functions that are not small."""
    if len(comparison.both.stacks) <= _MAX_STACKS:
        return comparison
    both = prune(comparison.both, MIN_SHARE)
    kept = {(frame.name, frame.file) for frame in both.frames}
    functions = tuple(one for one in comparison.functions if (one.name, one.file) in kept)
    return replace(comparison, both=both, functions=functions)


def _sides(comparison: SampledComparison | MeasuredComparison) -> str:
    if isinstance(comparison, MeasuredComparison):
        return " and ".join(comparison.names)
    return f"{comparison.a.name} and {comparison.b.name}"


def _info(measurement: Measurement) -> MeasuredInfo:
    """Return the info of a run that has only a measurement."""
    return MeasuredInfo(
        id="",
        batch="",
        started_ns=0,
        duration_s=0.0,
        process=_NOBODY,
        order=measurement.order,
        warnings=measurement.warnings,
    )
