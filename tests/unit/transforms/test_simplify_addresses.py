from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from profkit.model.profile import Frame, Profile, ProfileBuilder, Thread
from profkit.transforms.simplify import fold_addresses
from profkit.transforms.tables import function_rows
from tests.support.profile_strategies import profiles

Z = "/usr/lib/x86_64-linux-gnu/libz.so.1.2.13"
MAIN = Thread(1, 1, "MainThread")
WORK = Frame("work", "/home/ann/app.py", 3)
FOLDED = Frame("[libz.so]", Z)


def made(*stacks: tuple[Frame, ...]) -> Profile:
    builder = ProfileBuilder()
    for stack in stacks:
        builder.add(stack, MAIN, 2)
    return builder.build(period_ns=1e7)


def frames_of(profile: Profile) -> list[tuple[Frame, ...]]:
    return [tuple(profile.frames[n] for n in profile.stacks[sample.stack]) for sample in profile.samples]


def address(number: int, file: str = Z) -> Frame:
    return Frame(f"0x7fd6cd7{number:05x}", file)


def test_addresses_of_a_library_are_one_function() -> None:
    deflate = Frame("deflate", Z)
    profile = made((WORK, address(1)), (WORK, address(2), address(3)), (WORK, deflate, address(4)))
    folded = fold_addresses(profile)
    assert frames_of(folded) == [(WORK, FOLDED), (WORK, deflate, FOLDED)]
    assert [(row.name, row.self_weight) for row in function_rows(folded) if row.self_weight] == [
        ("[libz.so]", 6)
    ]
    assert (folded.period_ns, folded.ordered, folded.threads) == (1e7, True, (MAIN,))


def test_neighbours_of_different_libraries_are_not_one() -> None:
    other = "/opt/lib/_ext.cpython-311-x86_64-linux-gnu.so"
    profile = made((WORK, address(1), address(2, other), address(3)))
    assert frames_of(fold_addresses(profile)) == [
        (WORK, FOLDED, Frame("[_ext.cpython-311-x86_64-linux-gnu.so]", other), FOLDED)
    ]


def test_a_program_and_code_of_no_file_have_names_too() -> None:
    profile = made((address(1, "/usr/bin/python3.11"), address(2, "")))
    assert [frame.name for frame in frames_of(fold_addresses(profile))[0]] == [
        "[python3.11]",
        "[native code]",
    ]


def test_recursion_and_names_that_only_look_alike_stay() -> None:
    profile = made((WORK, WORK, Frame("0xcafe", "app.py", 7), Frame("0xzz", Z), Frame("", Z)))
    assert fold_addresses(profile) is profile


@given(profiles(), st.sets(st.integers(0, 20)))
def test_weights_stay(profile: Profile, chosen: set[int]) -> None:
    frames = tuple(
        frame._replace(name=f"0x{number + 4096:x}", line=0) if number in chosen else frame
        for number, frame in enumerate(profile.frames)
    )
    given_profile = replace(profile, frames=frames)
    folded = fold_addresses(given_profile)
    assert folded.total_weight == given_profile.total_weight
    assert all(not frame.name.startswith("0x") or frame.line for frame in folded.frames)
