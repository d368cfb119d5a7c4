"""Runs of tracked memory."""

from __future__ import annotations

from dataclasses import replace

from profkit.model.profile import Profile, Value
from profkit.model.region import MEMRAY
from profkit.model.run import Memory, Run
from profkit.model.session import SamplerPlan
from profkit.transforms.values import join_values
from tests.support.example_runs import made_run
from tests.support.profile_strategies import profile_of

MIB = 2**20


def memory_run(run_id: str = "aa00000001", *peaks: int, objects: bool = False, **changes: object) -> Run:
    """A run whose calls have these peaks, by default one of 50 MiB; a fifth of the largest is left."""
    found = peaks or (50 * MIB,)
    most = max(found)
    memory = Memory(found, 2 * sum(found), 10 * len(found), most // 5, objects)
    plan = SamplerPlan.unknown(MEMRAY, scope="process")
    run = made_run(id=run_id, memory=memory, plan=plan, samples=0, torn=0, notes=(), sampler_version="1.20.0")
    return replace(run, info=replace(run.info, **changes), profile=_profile(memory), resources=())  # type: ignore[arg-type]


def _profile(memory: Memory) -> Profile:
    most = memory.peak_bytes
    return join_values([
        (Value.PEAK, profile_of(("load:3 read:8", most * 4 // 5), ("load:4", most - most * 4 // 5))),
        (Value.ALLOCATED, profile_of(("load:3 read:8", memory.allocated_bytes))),
        (Value.ALLOCATIONS, profile_of(("load:3 read:8", memory.allocations))),
        (Value.LEFT, profile_of(("load:4", memory.left_bytes))),
    ])  # fmt: skip
