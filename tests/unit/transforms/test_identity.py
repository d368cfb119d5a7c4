"""Names and files of functions that are the same for all samplers, Pythons and environments."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from profkit.model.profile import Frame, Profile
from profkit.transforms.identity import (
    file_identity,
    has_comprehensions,
    is_comprehension,
    is_machine_code,
    machine_name,
    with_identities,
    without_comprehensions,
)
from tests.support.profile_strategies import built, profiles

APP = "/home/ann/app.py"
LIBC = "/usr/lib/x86_64-linux-gnu/libc.so.6"


def stacks_of(profile: Profile) -> list[list[tuple[str, int]]]:
    """The stacks as names and lines."""
    return [[(profile.frames[n].name, profile.frames[n].line) for n in stack] for stack in profile.stacks]


def of_stack(*frames: tuple[str, int], file: str = APP) -> Profile:
    return built(([Frame(name, file, line) for name, line in frames], 1))


def joined(*frames: tuple[str, int], file: str = APP, inline: bool = True) -> list[tuple[str, int]]:
    (stack,) = stacks_of(with_identities(of_stack(*frames, file=file), str, inline=inline))
    return stack


@pytest.mark.parametrize(
    ("identity", "files"),
    [
        (
            "json/decoder",
            ["/usr/lib/python3.11/json/decoder.py", "/opt/python/lib/python3.14t/json/decoder.py",
             "/home/ann/.pyenv/versions/3.15.2/lib/python3.15/json/decoder.py",
             "/usr/lib/python315.zip/json/decoder.pyc", "<frozen json.decoder>"],
        ),
        ("json", ["/usr/lib/python3.11/json/__init__.py", "<frozen json>"]),
        ("os", ["/usr/lib/python3.13/os.py", "<frozen os>"]),
        (
            "importlib/_bootstrap",
            ["<frozen importlib._bootstrap>", "/usr/lib/python3.11/importlib/_bootstrap.py"],
        ),
        (
            "numpy/linalg/_linalg",
            ["/a/.venv/lib/python3.11/site-packages/numpy/linalg/_linalg.py",
             "/usr/lib/python3/dist-packages/numpy/linalg/_linalg.py"],
        ),
        (
            "numpy/_core/umath.so",
            ["/a/lib/python3.11/site-packages/numpy/_core/umath.cpython-311-x86_64-linux-gnu.so",
             "/b/lib/python3.15/site-packages/numpy/_core/umath.cpython-315-x86_64-linux-gnu.so"],
        ),
        (
            "_json.so",
            ["/usr/lib/python3.11/lib-dynload/_json.cpython-311-x86_64-linux-gnu.so",
             "/usr/lib/python3.15/lib-dynload/_json.cpython-315-x86_64-linux-gnu.so"],
        ),
        (
            "python",
            ["/usr/bin/python3.15", "/opt/lib/libpython3.11.so.1.0", "/opt/lib/libpython3.13t.so.1.0"],
        ),
        ("libc.so.6", [LIBC, "/lib/x86_64-linux-gnu/libc.so.6", "/lib64/libc.so.6"]),
        (
            "Objects/obmalloc.c",
            ["/build/reproducible-path/python3.15-3.15.2/build-static/../Objects/obmalloc.c",
             "/tmp/python-build.20260509073455.222/Python-3.11.7/./Objects/obmalloc.c"],
        ),
    ],
)  # fmt: skip
def test_files_of_libraries_have_one_identity(identity: str, files: list[str]) -> None:
    assert {file_identity(file) for file in files} == {identity}


@pytest.mark.parametrize(
    "file", [APP, "<string>", "<stdin>", "", "/home/ann/os.py", "/home/ann/python3.py", "<process 7: python>"]
)
def test_other_files_are_their_own(file: str) -> None:
    assert file_identity(file) == file
    assert not is_machine_code(file)


@pytest.mark.parametrize(
    ("before", "since"),
    [
        ("f.<locals>.<listcomp>", "f"),
        ("f.<locals>.<setcomp>", "f"),
        ("C.method.<locals>.<dictcomp>", "C.method"),
        ("f.<locals>.<listcomp>.<listcomp>", "f"),
        ("f.<locals>.<listcomp>.<lambda>", "f.<locals>.<lambda>"),
        ("f.<locals>.<listcomp>.<genexpr>", "f.<locals>.<genexpr>"),
        ("f.<locals>.<genexpr>.<listcomp>", "f.<locals>.<genexpr>"),
        ("f.<locals>.<lambda>.<locals>.<listcomp>", "f.<locals>.<lambda>"),
        ("f.<locals>.<listcomp>.<lambda>.<locals>.<listcomp>", "f.<locals>.<lambda>"),
        ("f.<locals>.Body.<listcomp>", "f.<locals>.Body"),
        ("f.<locals>.Body.<listcomp>.<lambda>", "f.<locals>.Body.<lambda>"),
        ("<listcomp>", "<module>"),
        ("<listcomp>.<lambda>", "<lambda>"),
        ("f.<locals>.<genexpr>", "f.<locals>.<genexpr>"),
        ("<lambda>", "<lambda>"),
        ("<module>", "<module>"),
        ("my_listcomp", "my_listcomp"),
    ],
)
def test_names_as_comprehensions_are_inlined(before: str, since: str) -> None:
    assert without_comprehensions(before) == since
    assert without_comprehensions(since) == since


@given(st.lists(st.sampled_from(["f", "C", "<locals>", "<lambda>", "<listcomp>", "<genexpr>"]), max_size=6))
def test_no_comprehension_is_left_in_a_name(parts: list[str]) -> None:
    name = without_comprehensions(".".join(parts))
    assert not is_comprehension(name)
    assert without_comprehensions(name) == name


@pytest.mark.parametrize(
    ("name", "standard"),
    [
        ("foo.lto_priv.0", "foo"),
        ("foo.constprop.0", "foo"),
        ("foo.constprop.0.isra.0", "foo"),
        ("foo.part.0.cold", "foo"),
        ("foo.llvm.1234567890", "foo"),
        ("at::f(int) [clone .isra.0]", "at::f(int)"),
        ("pthread_key_delete@@GLIBC_2.34", "pthread_key_delete"),
        ("[_asyncio.cpython-313-x86_64-linux-gnu.so]", "[_asyncio.so]"),
        ("[python3.15]", "[python]"),
        ("[libpython3.11.so]", "[python]"),
        ("[libc.so]", "[libc.so]"),
        ("std::partial_sum", "std::partial_sum"),
    ],
)
def test_names_of_machine_functions(name: str, standard: str) -> None:
    assert machine_name(name) == standard


def test_a_comprehension_is_one_call_with_its_function() -> None:
    assert joined(("f", 3), ("f.<locals>.<listcomp>", 4), ("g", 9)) == [("f", 4), ("g", 9)]
    nested = (("f", 3), ("f.<locals>.<listcomp>", 4), ("f.<locals>.<listcomp>.<setcomp>", 5))
    assert joined(*nested) == [("f", 5)]
    assert joined(("<module>", 1), ("<listcomp>", 2)) == [("<module>", 2)]


def test_recursion_through_a_comprehension_is_as_deep_as_before() -> None:
    level = (("f", 3), ("f.<locals>.<listcomp>", 4))
    assert joined(*level, *level, ("f", 7)) == [("f", 4), ("f", 4), ("f", 7)]


def test_a_comprehension_without_its_function_is_named_after_it() -> None:
    assert joined(("f.<locals>.<listcomp>", 4), ("g", 9)) == [("f", 4), ("g", 9)]


def test_unqualified_comprehensions_count_for_their_callers() -> None:
    assert joined(("f", 3), ("<listcomp>", 4), ("g", 9)) == [("f", 3), ("g", 9)]


def test_comprehensions_stay_unless_asked() -> None:
    frames = (("f", 3), ("f.<locals>.<listcomp>", 4))
    profile = of_stack(*frames)
    assert with_identities(profile, str) is profile
    assert has_comprehensions(profile)
    assert not has_comprehensions(of_stack(("f", 3), ("f.<locals>.<genexpr>", 4)))


def test_parts_of_a_machine_function_are_one_call() -> None:
    cold = (("foo", 0), ("foo.part.0", 0), ("foo.part.0.cold", 0), ("bar", 0))
    assert joined(*cold, file=LIBC) == [("foo", 0), ("bar", 0)]
    assert joined(("foo.isra.0", 0), ("foo.isra.0", 0), file=LIBC) == [("foo", 0), ("foo", 0)]


def test_the_frame_beneath_an_init_is_left_out() -> None:
    beneath = Frame("f", APP, 3), Frame("__init__", "__init__")
    profile = with_identities(built(((*beneath, Frame("C.__init__", APP, 9)), 2), (beneath, 1)), str)
    assert stacks_of(profile) == [[("f", 3), ("C.__init__", 9)], [("f", 3)]]
    assert profile.total_weight == 3


@given(profiles(), st.booleans())
def test_profiles_without_differences_are_the_same(profile: Profile, inline: bool) -> None:
    assert with_identities(profile, str, inline=inline) is profile


kinds = st.builds(
    Frame,
    name=st.sampled_from(
        ["f", "f.<locals>.<listcomp>", "f.<locals>.<listcomp>.<lambda>", "f.cold", "__init__"]
    ),
    file=st.sampled_from([APP, LIBC, "__init__"]),
    line=st.integers(0, 2),
)


@given(profiles(kinds), st.booleans())
def test_no_weight_is_lost_and_a_second_time_changes_nothing(profile: Profile, inline: bool) -> None:
    once = with_identities(profile, str, inline=inline)
    assert once.samples == profile.samples
    assert all(len(new) <= len(old) for new, old in zip(once.stacks, profile.stacks, strict=True))
    assert with_identities(once, str, inline=inline).stacks == once.stacks
    assert not (inline and any(is_comprehension(f.name) and f.file == APP for f in once.frames))
