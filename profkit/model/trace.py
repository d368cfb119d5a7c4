"""Traces of torch.profiler: operators, ranges, kernels, and how busy each thread and stream was."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Operator:
    """An operator with the shapes of its inputs; times are sums over its calls."""

    name: str
    shapes: str
    """Dimensions of its inputs, such as `[4, 8] [8]`; empty if there are none."""
    calls: int
    self_cpu_ns: int
    total_cpu_ns: int
    self_device_ns: int = 0
    """Time of the kernels and copies that it launched itself; several may run at once."""
    total_device_ns: int = 0


@dataclass(frozen=True, slots=True)
class Range:
    """A region of profkit's or a range of the program (`record_function`) in the traced calls."""

    name: str
    calls: int
    total_cpu_ns: int
    total_device_ns: int = 0


@dataclass(frozen=True, slots=True)
class Kernel:
    """A kernel, copy or fill on a device."""

    name: str
    kind: str
    """PyTorch's category: `kernel`, `gpu_memcpy` or `gpu_memset`."""
    calls: int
    total_ns: int


@dataclass(frozen=True, slots=True)
class Lane:
    """A thread, or a stream of a device, in the last traced call."""

    name: str
    is_device: bool
    busy_ns: int
    busy: tuple[float, ...]
    """Part of each of equally long slices of the call in which an operator or kernel ran."""


@dataclass(frozen=True, slots=True)
class Trace:
    """What torch.profiler recorded of a region's traced calls."""

    calls: int
    span_ns: int
    """Time that the traces cover."""
    operators: tuple[Operator, ...]
    """By self CPU time, longest first; of equal ones, by name and shapes."""
    ranges: tuple[Range, ...]
    kernels: tuple[Kernel, ...]
    lanes: tuple[Lane, ...]
    last_span_ns: int
    """Time that the lanes cover."""
    devices: int
    """Number of devices that were used."""
    device_busy_ns: int
    """Time in which a device was busy, summed over devices; what runs at once counts once."""

    @property
    def device_busy_share(self) -> float:
        """Part of the time in which a device was busy, on average over the devices."""
        return self.device_busy_ns / (self.span_ns * self.devices) if self.span_ns and self.devices else 0.0
