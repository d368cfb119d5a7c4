"""What tests of checks compare."""

from __future__ import annotations

from profkit.model.checkup import Check, Status


def outcome(check: Check) -> tuple[str, str]:
    """Return what a check found, and its fix; with one it must be a shortfall, which costs something."""
    assert check.status is (Status.SHORTFALL if check.fix else Status.OK)
    assert bool(check.cost) is bool(check.fix)
    return check.found, check.fix
