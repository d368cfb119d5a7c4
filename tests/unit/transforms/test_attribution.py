from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from profkit.model.profile import Frame, Profile, ProfileBuilder, Thread
from profkit.model.region import Region, RegionKey, RegionKind
from profkit.model.session import Cover
from profkit.transforms.attribution import RegionCut, cut_regions
from profkit.transforms.origin import OWN_CODE, OwnCode
from profkit.transforms.simplify import child_frame
from profkit.transforms.trees import call_tree
from tests.support.profile_strategies import LIBRARY, USER, built, profiles

PACKAGE = "/opt/env/lib/python3.11/site-packages/profkit"
MARKERS = f"{PACKAGE}/calls/importlib_bootstrap/markers.py"
OWN_FILE = f"{PACKAGE}/calls/slow_path.py"
STEPS = f"{PACKAGE}/calls/importlib_bootstrap/stepping.py"
OWN = OwnCode((PACKAGE,))
C_FILE = "/opt/env/lib/python3.11/site-packages/wrapt/_wrappers.cpython-311-x86_64-linux-gnu.so"


def region(label: str, kind: RegionKind = RegionKind.FUNCTION, **changes: object) -> Region:
    made = Region(RegionKey("app", label, 3, label), kind, USER, expected=(label, USER))
    return replace(made, **changes)  # type: ignore[arg-type]


F, G = region("f"), region("g")
NATIVE = region("matmul", expected=None)
BLOCK = region("main", RegionKind.BLOCK, expected=None, body=(11, 12))
REGIONS = {"F": F, "G": G, "N": NATIVE}


def frame(text: str) -> Frame:
    """`NAME:LINE` is the user's, `@NAME` profkit's, `%NAME` its that runs the program's
    steps, `lib.NAME` a library's, `!F` the marker of region F.
    """
    if text[0] == "!":
        return Frame(REGIONS[text[1:]].marker, MARKERS, 40)
    name, _, line = text.partition(":")
    files = {"@": OWN_FILE, "%": STEPS, "lib.": LIBRARY, "c.": C_FILE, "~": f"{PACKAGE}/store/spool.py"}
    for prefix, file in files.items():
        if name.startswith(prefix):
            return Frame(name.removeprefix(prefix), file, int(line or 1))
    return Frame(name, USER, int(line or 1))


def recording(*samples: str, tid: int = 1) -> Profile:
    parts = (text.partition("=") for text in samples)
    return built(*((map(frame, stack.split()), int(weight or 1)) for stack, _, weight in parts), tid=tid)


def join(*parts: Profile) -> Profile:
    builder = ProfileBuilder()
    for part in parts:
        for stack, thread, weight in part.samples:
            builder.add(tuple(part.frames[i] for i in part.stacks[stack]), part.threads[thread], weight)
    return builder.build(period_ns=1e6)


def shown(cut: RegionCut) -> dict[str, int]:
    """The kept stacks, as names joined by blanks."""
    weights: dict[str, int] = {}
    for stack, _, weight in cut.profile.samples:
        text = " ".join(cut.profile.frames[index].name for index in cut.profile.stacks[stack])
        weights[text] = weights.get(text, 0) + weight
    return weights


def cut_region(
    profile: Profile,
    one: Region,
    covers: Iterable[Cover] = (),
    others: Iterable[Region] = (),
    own: OwnCode = OWN_CODE,
) -> RegionCut:
    return cut_regions(profile, (one, *others), covers, own)[one.id]


def counts(cut: RegionCut) -> tuple[int, int, int, int]:
    return cut.profile.total_weight, cut.torn, cut.overhead, cut.outside


def test_a_run_shows_what_is_above_its_marker() -> None:
    cut = cut_region(recording("main @call !F f work=3", "main @call !F f=2", "main other=4"), F, own=OWN)
    assert shown(cut) == {"f work": 3, "f": 2}
    assert counts(cut) == (5, 0, 0, 4)
    assert cut.profile.period_ns == 1e6


def test_profkits_own_frames_are_never_shown() -> None:
    profile = recording("main !F @step f @call !G g work", "main !F f @report")
    assert shown(cut_region(profile, F, others=[G], own=OWN)) == {"f g work": 1, "f": 1}


def test_what_profkit_calls_for_itself_is_not_the_programs() -> None:
    profile = recording("main !F f @enter lib.wait lib.acquire=2", "main !F f @enter ~append lib.dumps=3")
    assert shown(cut_region(profile, F, own=OWN)) == {"f": 5}


@pytest.mark.parametrize("module", ["fork_hooks", "guard"])
def test_profkits_hooks_count_for_the_line_that_they_follow(module: str) -> None:
    hooks = [Frame(name, f"{PACKAGE}/process/{module}.py", 9) for name in ("_after_in_parent", "_run")]
    forks = (*map(frame, ("main:1", "!F", "f:4")), *hooks)
    profile = built(((*forks, frame("lib.acquire")), 3), ((*forks, frame("step:8")), 2))
    assert shown(cut_region(profile, F)) == {"f": 3, "f step": 2}


def test_a_library_function_is_shown_where_a_marker_wraps_it() -> None:
    dumps = region("dumps", expected=("dumps", LIBRARY))
    stack = (Frame("main", USER), Frame(dumps.marker, MARKERS), Frame("dumps", LIBRARY), Frame("e", LIBRARY))
    assert shown(cut_region(built((stack, 2)), dumps, own=OWN)) == {"dumps e": 2}


def test_steps_of_a_librarys_coroutine_are_the_programs() -> None:
    task = replace(F, kind=RegionKind.COROUTINE, expected=("task", LIBRARY))
    profile = recording("main !F %awaited %next lib.task lib.get=3", "main !F %next lib.other=1")
    cut = cut_region(profile, task, own=OWN)
    assert shown(cut) == {"task get": 3}
    assert cut.torn == 1


def test_nothing_left_above_the_marker_is_overhead() -> None:
    profile = recording("main !F=1", "main !F @enter lib.wait=2", "main !F @now=4", "main !F f=8")
    assert counts(cut_region(profile, F, own=OWN)) == (8, 0, 7, 0)


def test_a_sample_belongs_to_every_region_it_is_in() -> None:
    profile = recording("main !F f !G g work=2", "main !G g=1")
    cuts = cut_regions(profile, [F, G], own=OWN)
    assert shown(cuts[F.id]) == {"f g work": 2}
    assert shown(cuts[G.id]) == {"g work": 2, "g": 1}


def test_another_function_above_the_marker_is_torn() -> None:
    cut = cut_region(recording("main !F g work=3", "main !F lib.f=1", "main !F f=5"), F, own=OWN)
    assert counts(cut) == (5, 4, 0, 0)


def test_what_runs_above_a_marker_is_kept_in_a_stack_of_one_moment() -> None:
    cuts = cut_regions(recording("main !F __del__ work=3", "main !F f=5"), [F], own=OWN, may_tear=False)
    assert shown(cuts[F.id]) == {"__del__ work": 3, "f": 5}
    assert counts(cuts[F.id]) == (8, 0, 0, 0)


def test_a_torn_inner_region_tears_the_outer_one_and_the_other_way_round() -> None:
    cuts = cut_regions(recording("main !F f !G f=2", "main !F g !G g=3", "main !F f !F g=4"), [F, G], own=OWN)
    assert counts(cuts[F.id]) == (0, 9, 0, 0)
    assert counts(cuts[G.id]) == (0, 5, 0, 4)


def test_the_regions_of_the_session_that_are_not_cut_show_tears_too() -> None:
    profile = recording("main !F f !G f=2")
    assert counts(cut_region(profile, F, others=[G], own=OWN)) == (0, 2, 0, 0)
    assert counts(cut_region(profile, F, own=OWN)) == (2, 0, 0, 0)


def test_a_function_without_python_code_has_a_frame_made_for_it_and_is_never_torn() -> None:
    cut = cut_region(recording("main !N=3", "main !N key=2", "main !N @enter lib.wait=1"), NATIVE, own=OWN)
    assert shown(cut) == {"matmul": 3, "matmul key": 2}
    assert counts(cut) == (5, 0, 1, 0)
    assert cut.profile.frames[0] == Frame("matmul", USER, 3)


def test_native_frames_between_marker_and_function_are_the_way_there() -> None:
    profile = recording("main c.call !F c.call f c.add=3", "main !F c.call=1", "main !F f c.call @x=1")
    cut = cut_region(profile, F, own=OWN)
    assert shown(cut) == {"f add": 3, "f call": 1}
    assert counts(cut) == (4, 0, 1, 0)


def test_native_code_that_a_marker_wraps_is_shown() -> None:
    assert shown(cut_region(recording("main !N c.gemm=2"), NATIVE, own=OWN)) == {"matmul gemm": 2}


def test_a_name_like_a_marker_in_the_users_file_is_the_users() -> None:
    profile = built(((Frame("main", USER), Frame(F.marker, USER), Frame("f", USER)), 1))
    assert counts(cut_region(profile, F, own=OWN)) == (0, 0, 0, 1)


def test_the_installation_that_was_recorded_may_be_another_one() -> None:
    cut = cut_region(recording("main @call !F f @enter lib.wait", "main !F f work"), F, own=OWN_CODE)
    assert shown(cut) == {"f": 1, "f work": 1}


def test_names_without_their_class_are_recognised_where_there_are_no_others() -> None:
    method = region("f", expected=("Model.f", USER))
    assert counts(cut_region(recording("main !F f work", "main !F g"), method, own=OWN)) == (1, 1, 0, 0)
    both = built(*(((Frame(F.marker, MARKERS), Frame(name, USER)), 1) for name in ("Model.f", "f")))
    assert counts(cut_region(both, method, own=OWN)) == (1, 1, 0, 0)


def test_a_block_is_its_frame_at_the_lines_of_its_body() -> None:
    profile = recording("root main:11 work=2", "root main:12=1", "root main:10 work=4", "root main:13=8")
    cut = cut_region(profile, BLOCK, own=OWN)
    assert shown(cut) == {"main work": 2, "main": 1}
    assert counts(cut) == (3, 0, 0, 12)


def test_a_block_in_recursive_code_begins_at_the_outermost_frame() -> None:
    assert shown(cut_region(recording("main:10 main:11 main:10 main:12"), BLOCK, own=OWN)) == {
        "main main main": 1
    }


def test_entering_and_leaving_a_block_is_overhead_but_calling_a_region_from_it_is_not() -> None:
    profile = recording(
        "main:11 @__enter__=1",
        "main:11 @__exit__ @leave lib.wait=2",
        "main:11 !F f=4",
        "main:11 work @__enter__=8",
    )
    cut = cut_region(profile, BLOCK, others=[F], own=OWN)
    assert shown(cut) == {"main f": 4, "main work": 8}
    assert counts(cut) == (12, 0, 3, 0)


def test_a_torn_stack_is_torn_for_its_block() -> None:
    assert counts(cut_region(recording("main:11 !F g=2"), BLOCK, others=[F], own=OWN)) == (0, 2, 0, 0)


def test_a_cell_with_await_has_its_frame_and_the_tasks_of_its_loop() -> None:
    cell = replace(BLOCK, detached=True)
    base = Frame("launch", USER, 1), Frame("BaseEventLoop._run_once", "/lib/asyncio/base_events.py", 5)
    profile = join(
        built(
            ((*base, Frame("run_code", LIBRARY), Frame("main", USER, 11), Frame("f", USER)), 1),
            ((*base, Frame("Handle._run", LIBRARY), Frame("task", USER)), 2),
        ),
        built(((*base, Frame("other", USER)), 4), tid=2),
    )
    cut = cut_region(profile, cell, [Cover(cell.id, 1)])
    assert shown(cut) == {"main f": 1, "BaseEventLoop._run_once Handle._run task": 2}
    bare = cut_region(profile, replace(cell, body=()), [Cover(replace(cell, body=()).id, 1)])
    assert "launch BaseEventLoop._run_once Handle._run task" in shown(bare)


def test_a_detached_block_has_the_whole_segments_of_its_thread() -> None:
    block = replace(BLOCK, detached=True, body=())
    profile = join(
        recording("main run @send work=3", "main !F f=2", "main:11 @__exit__=5", tid=1),
        recording("other=9", tid=2),
    )
    cut = cut_region(profile, block, [Cover(block.id, 1)], others=[F], own=OWN)
    assert shown(cut) == {"main run work": 3, "main f": 2, "main": 5}
    assert counts(cut) == (10, 0, 0, 9)
    assert counts(cut_region(profile, block, [Cover(F.id, 1)], own=OWN)) == (0, 0, 0, 19)


def test_a_region_of_all_threads_trims_its_own_and_keeps_the_others_whole() -> None:
    wide = replace(F, all_threads=True)
    profile = join(
        recording("main !F f work=3", "main !F=1", tid=1),
        recording("lib.bootstrap run @call !G g=2", tid=2),
        recording("lib.bootstrap @tick lib.wait=5", tid=3),
    )
    cut = cut_region(profile, wide, [Cover(wide.id, None)], others=[G], own=OWN)
    assert shown(cut) == {"f work": 3, "bootstrap run g": 2}
    assert counts(cut) == (5, 0, 6, 0)
    assert counts(cut_region(profile, wide, [], others=[G], own=OWN)) == (3, 0, 1, 7)


def test_a_stack_without_its_outermost_frames_that_begins_in_profkit_is_its_own_work() -> None:
    wide = replace(F, all_threads=True)
    profile = recording("~append lib.dumps=2", "~append=1", "~append run=4")
    cut = cut_region(profile, wide, [Cover(wide.id, None)], own=OWN)
    assert shown(cut) == {"append run": 4}
    assert counts(cut) == (4, 0, 3, 0)


def test_a_thread_that_runs_a_library_function_under_a_marker_is_no_thread_of_profkits() -> None:
    wide = replace(F, all_threads=True)
    profile = recording("lib.bootstrap !N lib.wait=2")
    cut = cut_region(profile, wide, [Cover(wide.id, None)], others=[NATIVE], own=OWN)
    assert shown(cut) == {"bootstrap wait": 2}


def test_all_threads_of_a_block_are_trimmed_at_the_block() -> None:
    wide = replace(BLOCK, all_threads=True)
    profile = join(recording("main:11 work=3", "main:10=1", tid=1), recording("run:1=2", tid=2))
    cut = cut_region(profile, wide, [Cover(wide.id, None)], own=OWN)
    assert shown(cut) == {"main work": 3, "main": 1, "run": 2}


def test_order_unit_and_threads_are_kept() -> None:
    profile = replace(recording("!F f a", "!F f b", "x", "!F f b", "!F f a"), ordered=True)
    cut = cut_region(profile, F, own=OWN)
    assert [(sample.stack, sample.weight) for sample in cut.profile.samples] == [(0, 1), (1, 2), (0, 1)]
    assert cut.profile.threads == profile.threads
    assert (cut.profile.unit, cut.profile.ordered) == (profile.unit, True)


words = ["!F", "!G", "!N", "@call", "lib.wait", "c.add", "f:1", "g:2", "main:11", "main:10", "main:12"]
some_covers = st.lists(
    st.builds(Cover, st.sampled_from([F.id, G.id, BLOCK.id]), st.sampled_from([None, 1, 2])), max_size=3
)


@given(profiles(st.sampled_from(words).map(frame)), some_covers)
def test_a_cut_accounts_for_every_sample_and_shows_nothing_of_profkit(
    profile: Profile, covers: list[Cover]
) -> None:
    regions = [F, G, NATIVE, BLOCK]
    cuts = cut_regions(profile, regions, covers, OWN)
    for one in regions:
        cut = cuts[one.id]
        assert sum(counts(cut)) == profile.total_weight
        assert min(counts(cut)) >= 0
        assert not any(shown_frame.file.startswith(PACKAGE) for shown_frame in cut.profile.frames)
        assert all(cut.profile.stacks)
        assert cut == cut_region(profile, one, covers, [other for other in regions if other != one], OWN)
        assert call_tree(cut.profile).total_weight == cut.profile.total_weight


@given(profiles(st.sampled_from(["!F", "@call", "f:1", "g:2"]).map(frame)))
def test_what_is_kept_begins_with_the_regions_function(profile: Profile) -> None:
    cut = cut_region(profile, F, own=OWN)
    assert all(cut.profile.frames[stack[0]].name == "f" for stack in cut.profile.stacks)


CHILD = child_frame(8, "python worker.py 1")


def child_recording(*stacks: tuple[Frame, ...]) -> Profile:
    builder = ProfileBuilder()
    for stack in stacks:
        builder.add((CHILD, *stack), Thread(8, 8, "MainThread"), 2)
    return builder.build(period_ns=1e6)


def test_children_belong_to_the_regions_that_were_active() -> None:
    profile = join(
        recording("main !F f wait=3", "main=4"), child_recording((frame("<module>"), frame("work")))
    )
    cuts = cut_regions(profile, [F, G], own=OWN)
    assert shown(cuts[F.id]) == {"f wait": 3, "python worker.py [pid 8] <module> work": 2}
    assert counts(cuts[F.id]) == (5, 0, 0, 4)
    # It ran, but not while this was recorded.
    assert counts(cuts[G.id]) == (0, 0, 0, 9)


def test_with_covers_children_belong_to_the_regions_that_cover() -> None:
    profile = join(recording("main !F f=3", "main !G g=1"), child_recording((frame("work"),)))
    cuts = cut_regions(profile, [F, G], covers=[Cover(G.id, tid=99)], own=OWN)
    assert shown(cuts[F.id]) == {"f": 3}
    assert shown(cuts[G.id]) == {"g": 1, "python worker.py [pid 8] work": 2}


def test_a_child_that_was_forked_in_a_call_is_shown_from_the_region_on() -> None:
    forked = child_recording((frame("main"), frame("!F"), frame("f"), frame("work")))
    cuts = cut_regions(join(recording("main !F f wait=3", "main !G g=1"), forked), [F, G], own=OWN)
    assert shown(cuts[F.id]) == {"f wait": 3, "python worker.py [pid 8] f work": 2}
    assert shown(cuts[G.id]) == {"g": 1}


def test_samples_keep_their_starts() -> None:
    profile = recording("main !F f work=3", "main other=4", "main !F f work=2", "main !F f=1")
    assert cut_region(replace(profile, starts=(5, 8, 12, 14)), F).profile.starts == (5, 12, 14)
    assert cut_region(profile, F).profile.starts == ()


TEST = region("test_one", RegionKind.TEST, expected=None)
REGIONS["T"] = TEST


@pytest.mark.parametrize(
    ("samples", "kept"),
    [
        (["lib.call !T lib.call lib.call test_one work"], {"test_one work": 1}),
        (["lib.call !T lib.call=2", "lib.call !T lib.call test_one"], {"call": 2, "test_one": 1}),
        (["lib.call test_one work"], {}),
        (["!T"], {}),  # it is never frameless
    ],
)
def test_stacks_of_a_test_begin_at_its_function(samples: list[str], kept: dict[str, int]) -> None:
    """Without the frames of the test runner."""
    assert not TEST.is_frameless
    assert shown(cut_region(recording(*samples), TEST)) == kept
