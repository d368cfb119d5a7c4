"""Errors of tracking memory."""

from __future__ import annotations

from profkit.errors import SamplerError


class TrackerMissing(SamplerError):
    """Memray, which tracks memory and reads what it has written, cannot be imported."""

    def __init__(self, detail: str) -> None:
        self.detail = detail
        super().__init__(f"mode='memory' needs memray ({detail}); install it: pip install 'profkit[memory]'")


class TrackerBusy(SamplerError):
    """The process has another tracker of memray, and there can be only one."""

    def __init__(self) -> None:
        super().__init__(
            "another tracker of memray is active in this process, which can have only one; run the program "
            "without `memray run`, or end that Tracker before the call"
        )
