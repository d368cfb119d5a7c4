"""Which time of a rank is waiting for other ranks, and where the rest is."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given

from profkit.model.profile import Frame, Profile, ProfileBuilder, Thread, ThreadState
from profkit.transforms.rank_times import Alone, RankStacks
from tests.support.profile_strategies import frame_of, frames, profiles, thread_states
from tests.support.simulated_job import FORWARD

MAIN = Thread(7, 7, "MainThread")
BACKWARD = Frame(
    "_engine_run_backward", FORWARD[1].file.replace("nn/parallel/distributed", "autograd/graph"), 9
)
WORKS, WAITS = ThreadState.WORKING, ThreadState.WAITING
OWN = Alone.OWN
TRAIN = frame_of("train:3")


def rank(*samples: tuple[tuple[Frame, ...], ThreadState]) -> Profile:
    builder = ProfileBuilder()
    for stack, state in samples:
        builder.add(stack, MAIN, 10, state=state)
    return builder.build(period_ns=1e8)


def stacks(profile: Profile) -> RankStacks:
    return RankStacks(profile, 7, "")


def waiting(profile: Profile) -> list[Alone]:
    found = stacks(profile)
    return [found.alone[sample.stack] for sample in profile.samples]


def test_backward_waits_for_ranks_if_it_is_blocked_and_runs_no_code_of_the_program() -> None:
    hook = (TRAIN, BACKWARD, frame_of("hook:5"))
    profile = rank(
        (FORWARD, WORKS), ((TRAIN, BACKWARD), WAITS), ((TRAIN, BACKWARD), WORKS), (hook, WORKS), (hook, WAITS)
    )
    assert waiting(profile) == [OWN, Alone.WAITS, Alone.BACKWARD, OWN, OWN]
    assert waiting(rank(((TRAIN, BACKWARD), WAITS))) == [OWN], "there are no other ranks"


def test_collectives_wait_in_any_state() -> None:
    stack = (TRAIN, frame_of("wrapper@lib:8"), frame_of("all_reduce@ranks:4"))
    assert waiting(rank((stack, WORKS), (stack, WAITS), (stack, ThreadState.UNKNOWN))) == [Alone.WAITS] * 3


@pytest.mark.parametrize(
    ("source", "state", "alone"),
    [
        ("handle.wait()", WAITS, Alone.WAITS),
        ("handle.wait()", WORKS, Alone.WAITS),
        ("[work.wait() for work in works]", ThreadState.UNKNOWN, Alone.WAITS),
        ("address = store.get('address')", WAITS, Alone.WAITS),
        ("total += store.get(key, 0)", WORKS, OWN),
        ("value = cache.get(key)", WAITS, OWN),
        (None, WAITS, OWN),
    ],
)
def test_a_call_of_an_operation_or_a_store_is_known_by_its_line(
    source: str | None, state: ThreadState, alone: Alone
) -> None:
    exchange = ((TRAIN, frame_of("all_reduce@ranks:4")), WAITS)
    for others, expected in (([exchange], alone), ([], OWN)):
        profile = rank(((TRAIN,), state), *others)
        assert RankStacks(profile, 7, "", lambda file, line: source).alone[0] is expected


@pytest.mark.parametrize(
    "source",
    [
        *(
            "comm.Allreduce(values, sums, op=MPI.SUM)",
            "while comm.bcast(perf_counter() < end):",
            "comm.Barrier()",
        ),
        *(
            "total = self.comm.allreduce(loss.item())",
            "row = MPI.COMM_WORLD.recv(source=0)",
            "comm.Exscan(a, b)",
        ),
        *(
            "rows = comm.gather(rows, root=0)[0]",
            "n = world_comm.Sendrecv(",
            "sizes = comm.allgather(len(rows))",
        ),
        *(
            "MPI.Request.Waitall(requests)",
            "req.wait()",
            "comm.Reduce_scatter_block(a, b)",
            "comm.Ssend(a, 1)",
        ),
    ],
)
def test_a_call_of_mpi_waits_even_if_it_polls(source: str) -> None:
    assert RankStacks(rank(((TRAIN,), WORKS)), 7, "", lambda file, line: source).alone[0] is Alone.WAITS


@pytest.mark.parametrize(
    "source",
    [
        *("total = comm.allreduce(compute(rows))", "x = np.dot(a, b) + comm.allreduce(v)", "sock.recv(100)"),
        *(
            "comm.Get_rank()",
            "request = comm.Iallreduce(a, b)",
            "comm.isend(x, 1)",
            "event.wait()",
            "gather(x)",
        ),
        *("# comm.Barrier()", "x = comm.allreduce(v).dot(y)", "x = f(comm.recv())", "commit.send_all(x)"),
    ],
)
def test_other_calls_and_work_in_the_same_line_are_own_time(source: str) -> None:
    assert RankStacks(rank(((TRAIN,), WORKS)), 7, "", lambda file, line: source).alone[0] is OWN


@pytest.mark.parametrize(
    ("folder", "state", "alone"),
    [
        ("fsdp/_fully_shard", WAITS, Alone.WAITS),
        ("pipelining", WAITS, Alone.WAITS),
        ("fsdp/_fully_shard", WORKS, OWN),
        ("checkpoint", WAITS, OWN),
    ],
)
def test_torch_waits_for_ranks_where_it_exchanges_data(folder: str, state: ThreadState, alone: Alone) -> None:
    package = FORWARD[1].file.replace("nn/parallel/distributed.py", f"distributed/{folder}/module.py")
    assert waiting(rank(((TRAIN, Frame("step", package, 3)), state))) == [alone]


def test_child_processes_count_without_their_idle_time() -> None:
    builder = ProfileBuilder()
    item, queue = (
        frame_of("__getitem__:9"),
        Frame("Queue.get", "/usr/lib/python3.11/multiprocessing/queues.py", 103),
    )
    builder.add((TRAIN,), MAIN, 10, state=WAITS)
    for worker in (8, 9):
        thread = Thread(worker, worker, "MainThread")
        builder.add((TRAIN, item), thread, 6, state=WORKS)
        builder.add((TRAIN, queue), thread, 30, state=WAITS)
    found = RankStacks(builder.build(period_ns=1e8), 7, "", are_of_children=True)
    assert found.own() == {item: pytest.approx(1.2)}
    assert found.including()["__getitem__", item.file].depth == 1.0


def test_other_waiting_is_a_ranks_own() -> None:
    stack, disk = (
        (TRAIN, frame_of("all_reduce@ranks:4")),
        (TRAIN, frame_of("save:6"), frame_of("fsync@lib:1")),
    )
    found = stacks(rank((stack, WAITS), (disk, WAITS), ((TRAIN,), WORKS)))
    assert found.own() == {frame_of("save:6"): 1.0, TRAIN: 1.0}
    assert found.including()["train", TRAIN.file] == (2.0, 0.0)
    assert found.blocked(("save", TRAIN.file)) == {"": 1.0}
    assert found.lines(("train", TRAIN.file)) == {3: 2.0}
    assert [(one.seconds, one.alone) for one in found.stretches()] == [(1.0, Alone.WAITS), (2.0, OWN)]


def test_a_comprehension_is_part_of_its_function() -> None:
    inner = Frame("load.<locals>.<listcomp>", TRAIN.file, 12)
    collective = ((TRAIN, frame_of("all_reduce@ranks:4")), WAITS)
    assert stacks(rank(((frame_of("load:11"), inner), WORKS), collective)).own() == {frame_of("load:11"): 1.0}


def test_only_the_main_thread_counts() -> None:
    builder = ProfileBuilder()
    for thread, weight in ((Thread(9, 9, "MainThread"), 50), (Thread(7, 8, "loader"), 40), (MAIN, 10)):
        builder.add((TRAIN,), thread, weight, state=WORKS)
    assert stacks(builder.build(period_ns=1e8)).own() == {TRAIN: 1.0}


@given(profiles(frames, states=thread_states))
def test_stretches_and_own_time_add_up(profile: Profile) -> None:
    found = stacks(profile)
    parts = list(found.stretches())
    assert all(one.alone is not other.alone for one, other in pairwise(parts))
    own_s = sum(found.own().values())
    assert own_s <= sum(part.seconds for part in parts if part.alone is not Alone.WAITS) + 1e-9
    assert sum(part.seconds for part in parts) <= profile.total_weight * 1e-3 + 1e-9
