"""JSON report of compilations."""

from __future__ import annotations

from profkit.model.compilations import Compilations, CompiledFrame
from profkit.render.json.sampled import dumps, process_object
from profkit.render.options import DEFAULTS, PIPE, ReportOptions, Terminal
from profkit.render.views.compilations import headline, sorted_passes

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
