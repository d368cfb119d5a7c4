"""JSON report of a checkup."""

from __future__ import annotations

from profkit.model.checkup import Check, Checkup
from profkit.render.json.sampled import dumps
from profkit.render.options import DEFAULTS, PIPE, ReportOptions, Terminal
from profkit.render.views.checkup import verdict

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
