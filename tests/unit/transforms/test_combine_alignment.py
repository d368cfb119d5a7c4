from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from profkit.model.profile import Frame, Profile, ProfileBuilder, Thread
from profkit.transforms.combine import Home, aligned, side_by_side
from profkit.transforms.tables import function_rows
from tests.support.profile_strategies import profile_of, profiles


def of_files(*files: str) -> Profile:
    builder = ProfileBuilder()
    builder.add(tuple(Frame("f", file, 3) for file in files), Thread(1, 1, "t"), 2)
    return builder.build(period_ns=1e6)


def files_of(profile: Profile) -> list[str]:
    return [frame.file for frame in profile.frames]


def test_two_checkouts_are_one_program() -> None:
    here, there = Home("/src/old", "/src/old/app/main.py"), Home("/tmp", "/home/new/app/main.py")
    one, other = aligned(
        (of_files("/src/old/app/main.py", "/src/old/lib.py"), of_files("/home/new/lib.py", "/home/newer.py")),
        (here, there),
    )
    assert files_of(one) == ["/src/old/app/main.py", "/src/old/lib.py"]
    assert files_of(other) == ["/src/old/lib.py", "/home/newer.py"]


def test_two_environments_have_the_same_libraries() -> None:
    home = Home("/src", "/src/main.py")
    one, other = aligned(
        (
            of_files("/usr/lib/python3.11/json/encoder.py", "/a/lib/python3.11/site-packages/torch/nn.py"),
            of_files("/usr/lib/python3.12/json/encoder.py", "/b/lib/python3.12/site-packages/torch/nn.py"),
        ),
        (home, home),
    )
    assert files_of(one) == files_of(other)


def test_the_same_program_run_from_two_folders_keeps_its_paths() -> None:
    """Its files lie in the folder that the second ran in."""
    profile = of_files("/src/main.py")
    one, other = aligned((profile, profile), (Home("/data", "/src/main.py"), Home("/src", "/src/main.py")))
    assert one == other == profile


def test_programs_without_a_common_file_are_reported_by_where_they_ran() -> None:
    _, other = aligned(
        (of_files("/a/x.py"), of_files("/b/y.py", "/bb/y.py")),
        (Home("/a", "/a/x.py"), Home("/b/", "/b/y.py")),
    )
    assert files_of(other) == ["/a/y.py", "/bb/y.py"]


@given(profiles(), profiles(), profiles())
def test_sides_keep_their_totals(one: Profile, two: Profile, three: Profile) -> None:
    both = side_by_side((one, two), (three,))
    weights = [0, 0]
    for sample in both.samples:
        weights[sample.thread] += sample.weight
    assert weights == [one.total_weight + two.total_weight, three.total_weight]
    rows = {(row.name, row.file): row.self_weight for row in function_rows(both)}
    apart = [function_rows(profile) for profile in (one, two, three)]
    assert sum(rows.values()) == sum(row.self_weight for table in apart for row in table)


@given(st.lists(profiles(), min_size=1, max_size=3))
def test_the_first_program_keeps_its_paths(taken: list[Profile]) -> None:
    homes = [Home("/home/ann", "/home/ann/app.py")] * len(taken)
    assert aligned(taken, homes) == tuple(taken)


def test_sides_are_named() -> None:
    both = side_by_side((profile_of(("f:1", 1)),), (profile_of(("f:1 g:2", 2)),))
    assert [thread.name for thread in both.threads] == ["A", "B"]
    assert not both.ordered
