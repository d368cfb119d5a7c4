"""Faults of the campaign. To add one, write a module with `inject`, and add a line here.

To cover a new sampler, format or mode, add it to the list of variants in the module for its fault.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import cast

from benchmarks.faults import interrupts, planted_files, repetition, senders, streams
from benchmarks.faults.fuzz_worker import IMPORTERS
from benchmarks.faults.injections import Injection, Outcome
from benchmarks.faults.same_programs import CASES


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault, and the number of its injections."""

    module: str
    """Name of its module in `benchmarks.faults`."""
    what: str
    full: int
    """Number of injections in the full form."""
    short: int
    """Number of injections in the short form, which takes three minutes."""
    alone: bool = False
    """True if other injections at the same time would disturb its measurements."""
    searches: bool = False
    """True if it searches for inputs that break something: what it finds once counts."""

    def inject(self, injection: Injection) -> Outcome:
        """Inject the fault once."""
        module = import_module(f"benchmarks.faults.{self.module}")
        return cast(Callable[[Injection], Outcome], module.inject)(injection)


FAULTS: Mapping[str, Fault] = {
    "target-kills": Fault("target_kills", "the target ends at a random moment", 200, 12),
    "sampler-kills": Fault("sampler_kills", "the sampler is killed or stopped", 50, 4),
    "measuring-kills": Fault(
        "measuring_kills", "a measuring program, zygote or supervisor is killed or stopped", 50, 3
    ),
    "pool": Fault("pool_calls", "an isolated call misbehaves, or its pool is killed or stopped", 240, 4),
    "disks": Fault("disks", "the disk fills up, becomes read-only, vanishes, has no inodes", 360, 9),
    "interrupts": Fault("interrupts", "Ctrl-C arrives at places of a profiled call", interrupts.COUNT, 4),
    "repetition": Fault(
        "repetition", "each use is repeated, up to 10,000 times", repetition.COUNT, repetition.COUNT
    ),
    "streams": Fault("streams", "streams are closed or full, and scripts can be read once", streams.COUNT, 6),
    "signals": Fault("senders", "signals, by sender, program and number", senders.COUNT, 8),
    "clock": Fault("clock", "the target's clock is set back or ahead", 24, 2),
    "stores": Fault("stores", "the store is locked, damaged, newer, or not profkit's", 60, 5),
    "spool-damage": Fault("spool_damage", "spool files are cut or flipped at 10 places each time", 50, 2),
    "postgres": Fault("postgres", "PostgreSQL is killed while a command keeps runs", 12, 1),
    "pushes": Fault("pushes", "hosts, readers and servers are killed while sessions are sent", 40, 1),
    "programs": Fault(
        "same_programs", "small programs in each mode, compared with unprofiled", len(CASES), 14
    ),
    "planted-modules": Fault("planted", "files named like modules lie in the folder of a command", 10, 3),
    "planted-files": Fault(
        "planted_files", "another user has planted links, folders and settings", planted_files.COUNT, 4
    ),
    "secrets": Fault("secrets_kept", "secrets are on the command line and in the environment", 8, 2),
    "importers": Fault("fuzzing", "importers are fuzzed", len(IMPORTERS), 5, searches=True),
    "soak": Fault("soak", "all features, for a long time", 1, 1, alone=True),
}
"""Faults by name, in the order of the table."""
