"""Charges: each sample is charged once, to the program's innermost function."""

from __future__ import annotations

from hypothesis import given

from profkit.model.profile import Frame, Profile
from profkit.transforms.charges import Charge, Charging, Doing, Place
from profkit.transforms.origin import OWN_CODE, is_library_file
from tests.support.profile_strategies import built, frame_of, profile_of, profiles


def charges_of(profile: Profile, *waiting: int) -> list[Charge]:
    return Charging(profile, waiting, is_library_file, lambda file, line: None).charges(profile)


def test_library_calls_are_charged_to_their_caller() -> None:
    charge, *_ = charges_of(profile_of(("main:1 f:5 dumps@lib:3", 60), ("main:1 f:6", 30), ("main:1", 10)))
    assert (charge.place.name, charge.line, charge.weight, charge.of_line) == ("f", 5, 90, 60)
    assert charge.end is not None
    assert charge.end.name == "dumps"


def test_totals_count_each_stack_once() -> None:
    charge, *_ = charges_of(profile_of(("f:1 f:1 f:2", 30), ("f:1 g:4", 20)))
    assert (charge.weight, charge.total, charge.total_of_line) == (30, 50, 30)


def test_working_and_waiting_are_charged_apart() -> None:
    found = charges_of(profile_of(("f:1 wait@other:4", 30), ("f:2", 20)), 0)
    assert [(charge.doing, charge.weight, charge.waits_for) for charge in found] == [
        (Doing.WAITING, 30, "another thread"),
        (Doing.WORKING, 20, ""),
    ]


def test_lines_outside_of_functions_are_places_of_their_own() -> None:
    found = charges_of(profile_of(("<module>:8", 30), ("<module>:9", 20)))
    assert [(charge.place.line, charge.weight) for charge in found] == [(8, 30), (9, 20)]


def test_profkits_own_frames_are_nobodys() -> None:
    own = Frame("_resume", f"{OWN_CODE.packages[0]}/process/fork_hooks.py", 3)
    (charge,) = charges_of(built(((frame_of("main:1"), own), 10)))
    assert charge.place.name == "main"


def test_samples_in_libraries_alone_are_charged_to_their_end() -> None:
    (charge,) = charges_of(profile_of(("boot@lib:1 select@other:4", 10)))
    assert charge.place.name == "select"


@given(profiles())
def test_every_sample_is_charged_once(profile: Profile) -> None:
    weights = sum(weight for stack, weight in profile.weights_by_stack.items() if profile.stacks[stack])
    found = charges_of(profile)
    assert sum(charge.weight for charge in found) == weights
    assert all(charge.of_line <= charge.weight for charge in found)
    assert all(charge.weight <= charge.total for charge in found)
    assert [charge.weight for charge in found] == sorted((charge.weight for charge in found), reverse=True)


@given(profiles())
def test_charges_have_totals_of_functions_and_lines(profile: Profile) -> None:
    weights = profile.weights_by_stack
    for charge in charges_of(profile):
        if charge.is_program:
            lines = {stack: [profile.frames[frame] for frame in profile.stacks[stack]] for stack in weights}
            with_function = {
                stack: {frame.line for frame in frames if _is_of(charge.place, frame)}
                for stack, frames in lines.items()
            }
            assert charge.total == sum(weights[stack] for stack, found in with_function.items() if found)
            of_line = [stack for stack, found in with_function.items() if charge.line in found]
            assert charge.total_of_line == sum(weights[stack] for stack in of_line)


def _is_of(place: Place, frame: Frame) -> bool:
    return frame[:2] == place[:2] and place.line in (0, frame.line)


@given(profiles())
def test_common_call_is_a_function_with_more_than_half(profile: Profile) -> None:
    weights = profile.weights_by_stack
    totals = {
        (name, file): sum(
            weight
            for stack, weight in weights.items()
            if any(profile.frames[frame][:2] == (name, file) for frame in profile.stacks[stack])
        )
        for name, file, _ in profile.frames
        if not is_library_file(file) and not name.endswith(">")
    }
    top, *_ = charges_of(profile) or [None]
    if top is not None:
        half, most = sum(weights.values()) / 2, sum(weights.values()) + 1
        possible = {key for key, total in totals.items() if total > half and (*key, 0) != top.place}
        call = top.common_call(most)
        assert (call is not None) == bool(possible)
        assert call is None or (call.place[:2] in possible and call.total == totals[call.place[:2]])
