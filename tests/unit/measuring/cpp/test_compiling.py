"""Compilers' output, cut down to the user's lines."""

from __future__ import annotations

import pytest

from profkit.measuring.cpp.compiling import trimmed
from profkit.model.workorder import Language, WorkOrder

ORDER = WorkOrder(
    "label",
    stmt="int y = nothing;\n\tf(3, é);",
    setup="int x;",
    global_setup="void f();",
    language=Language.CPP,
)


def test_the_users_line_is_quoted_with_a_mark():
    said = (
        "<stmt>: In function ‘void profkit_measure_body(…)’:\n"
        "<stmt>:1:9: error: ‘nothing’ was not declared in this scope\n"
        "<stmt>:2:8: error: no such thing\n"
    )
    assert trimmed(said, ORDER).split("\n") == [
        "<stmt>:1:9: error: ‘nothing’ was not declared in this scope",
        "    int y = nothing;",
        "            ^",
        "<stmt>:2:8: error: no such thing",
        "    \tf(3, é);",
        "    \t      ^",
    ]


def test_notes_of_the_users_lines_stay_and_few_others():
    foreign = [f"/usr/include/x.h:{n}:5: note: candidate {n}" for n in range(1, 9)]
    said = [
        "In file included from /usr/include/y.h:3,",
        "                 from source.cpp:1:",
        "/usr/include/z.h: In instantiation of ‘f’:",
        "/usr/include/z.h:10:2:   required from ‘g’",
        "<stmt>:2:2:   required from here",
        "/usr/include/x.h:45:23: error: no match",
        "   45 |         { return *__it1 < *__it2; }",
        "      |                  ~~~~~~~^~~~~~~~",
        *foreign,
        "<global_setup>:1:6: note: candidate: ‘void f()’",
    ]
    kept = trimmed("\n".join(said), ORDER)
    assert kept.split("\n") == [
        "<stmt>:2:2:   required from here",
        "    \tf(3, é);",
        "    \t^",
        "/usr/include/x.h:45:23: error: no match",
        *foreign[:3],
        "<global_setup>:1:6: note: candidate: ‘void f()’",
        "    void f();",
        "         ^",
    ]


@pytest.mark.parametrize("offset", ["", "(.text+0x61):", "(.text._Z1fv+0x5):"])
def test_the_linker(offset: str):
    said = (
        "/usr/bin/ld: /tmp/ccK.o: in function `profkit_measure_body(long)':\n"
        f"/home/me/<stmt>:1:{offset} undefined reference to `foo()'\n"
        "collect2: error: ld returned 1 exit status\n"
    )
    assert trimmed(said, ORDER).startswith("<stmt>:1: undefined reference to `foo()'\n")


def test_errors_around_the_users_lines_are_explained():
    said = "<profkit>:10:8: error: expected unqualified-id\n<profkit>:35:2: error: expected ‘}’ at the end\n"
    kept = trimmed(said, ORDER)
    assert "unbalanced" in kept
    assert "expected unqualified-id" in kept
    assert "35" not in kept


def test_what_is_no_message_is_shown_as_it_is():
    assert trimmed("sh: broken pipe\n", ORDER) == "sh: broken pipe"
    assert trimmed("", ORDER) == "the compiler failed without a message"
    died = "x86_64-linux-gnu-g++-12: fatal error: Killed signal terminated program cc1plus"
    assert trimmed(f"{died}\ncompilation terminated.\n", ORDER) == died


def test_no_flood():
    said = "\n".join(f"<stmt>:1:1: error: number {n}" for n in range(500))
    assert len(trimmed(said, ORDER).split("\n")) == 61
