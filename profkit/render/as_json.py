"""The report for programs: one JSON object whose `schema` names its form; docs/cli.md describes it.

Everything but ASCII is written as an escape, so the text is safe to print wherever names come from.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Mapping
from itertools import repeat

from profkit.model.measurement import AnyInfo
from profkit.model.profile import Node
from profkit.model.run import Run
from profkit.model.session import UnprofiledGroup
from profkit.render.facts import run_notes
from profkit.render.merged_json import merged_object
from profkit.render.options import ReportOptions
from profkit.render.report import Report, build_report
from profkit.render.rows import CostRow
from profkit.render.run_json import listed_object, run_object
from profkit.render.unprofiled import unprofiled_objects
from profkit.render.usage import usage

REPORT_SCHEMA = "profkit.report/1"
RUNS_SCHEMA = "profkit.runs/1"
REMOVED_SCHEMA = "profkit.removed/1"
IMPORTED_SCHEMA = "profkit.imported/1"
DEEPEST = 200
"""Levels of the tree that are written: readers of JSON recurse, and give up at some depth."""


def report_json(run: Run, *, options: ReportOptions | None = None) -> str:
    """A run's report; raises `UsageError` for a thread that the run does not have."""
    report = build_report(run, options or ReportOptions())
    used = usage(run.resources)
    return dumps(
        REPORT_SCHEMA,
        {
            "run": {**run_object(run.info), "notes": list(run_notes(run))},
            "merged": None if run.merged is None else merged_object(run.merged),
            "resources": None if used is None else dataclasses.asdict(used),
            "unit": report.scale.unit.value,
            "stated_totals": report.stated,
            "functions": [dataclasses.asdict(row) for row in report.functions],
            "lines": [dataclasses.asdict(row) for row in report.lines],
            "threads": [dataclasses.asdict(row) for row in report.threads],
            "tree": tree_object(report),
        },
    )


def runs_json(infos: Iterable[AnyInfo], unprofiled: Iterable[UnprofiledGroup] = ()) -> str:
    """A list of runs, without their samples and numbers, and what was not profiled."""
    runs = [listed_object(info) for info in infos]
    return dumps(RUNS_SCHEMA, {"runs": runs, "unprofiled": unprofiled_objects(unprofiled)})


def removed_json(infos: Iterable[AnyInfo], *, dry_run: bool) -> str:
    """Runs that were removed, or would be."""
    return dumps(REMOVED_SCHEMA, {"dry_run": dry_run, "removed": [listed_object(info) for info in infos]})


def imported_json(infos: Iterable[AnyInfo]) -> str:
    """The runs that files held, whether they were new or not."""
    return dumps(IMPORTED_SCHEMA, {"imported": [listed_object(info) for info in infos]})


def tree_object(report: Report) -> dict[str, object]:
    """The call tree, root first: nodes with `children`; `cut` counts the calls below the deepest level."""
    least = (report.options.min_share or 0.0) * report.scale.total
    root = _node_object(report.tree, report)
    pending = [(report.tree, root, 1)]
    while pending:
        node, made, depth = pending.pop()
        if depth > DEEPEST:
            made["cut"] = sum(1 for _ in node.walk()) - 1
            continue
        kept = [child for child in node.children if child.total_weight >= least]
        objects = [_node_object(child, report) for child in kept]
        made["children"] = objects
        pending += zip(kept, objects, repeat(depth + 1))
    return root


def _node_object(node: Node, report: Report) -> dict[str, object]:
    frame = node.frame
    costs = report.scale.costs(node.self_weight, node.total_weight)
    row = CostRow(frame.name, frame.file, frame.line, *costs)
    library = bool(frame.name) and report.is_library(frame.file)
    return {**dataclasses.asdict(row), "library": library, "cut": 0, "children": []}


def dumps(schema: str, parts: Mapping[str, object]) -> str:
    """The object of a report: its schema, then its parts; ValueError for what JSON has no number for."""
    # A line for each part keeps it readable; the parts themselves can be large.
    lines = [f"{json.dumps(name)}: {json.dumps(value, allow_nan=False)}" for name, value in parts.items()]
    return "{" + ",\n ".join([f'"schema": {json.dumps(schema)}', *lines]) + "}"
