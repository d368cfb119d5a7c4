"""What a page has no use for."""

from __future__ import annotations

from profkit.errors import UsageError
from profkit.render.options import ReportOptions


def refuse_limits(options: ReportOptions) -> None:
    """Raise `UsageError` for what would leave something out: a page holds everything."""
    given = {
        "--limit": options.limit is not None,
        "--min-share": options.min_share is not None,
        "--show-all": options.show_all,
    }
    if wrong := ", ".join(option for option, is_given in given.items() if is_given):
        raise UsageError(f"an HTML page holds everything, and has no use for {wrong}", "leave that out")
