"""Errors about PyTorch's own hooks and profilers: ProfkitErrors with exit code 3."""

from __future__ import annotations

from profkit.errors import ProfkitError


class TorchMissing(ProfkitError):
    """Torch cannot be imported, or lacks what is needed."""

    exit_code = 3

    def __init__(self, purpose: str, detail: str) -> None:
        self.purpose, self.detail = purpose, detail
        super().__init__(
            f"{purpose} needs torch: {detail}; install torch 2.6 or later: pip install 'profkit[torch]'"
        )


class ProfilerActive(ProfkitError):
    """The program records with torch.profiler itself, of which there can be one at a time."""

    exit_code = 3

    def __init__(self) -> None:
        super().__init__(
            "the program already records with torch.profiler, of which there can be one at a time; "
            "leave out one of them"
        )


class HookBusy(ProfkitError):
    """PyTorch's compile-time hook calls another profiler."""

    exit_code = 3

    def __init__(self, profiler: str) -> None:
        self.profiler = profiler
        super().__init__(
            f"PyTorch's compile-time hook is used by {profiler}; do not enable it elsewhere, "
            "for example by TORCH_COMPILE_STROBELIGHT"
        )
