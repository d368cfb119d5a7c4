"""The C++ around a statement: what it includes, and whose lines it speaks of."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from profkit.measuring.cpp.building import in_assembly
from profkit.measuring.cpp.source import (
    ALL_OF_TORCH,
    ATEN,
    TENSORS,
    TORCHSCRIPT,
    needs_torch,
    source_of,
)
from profkit.model.workorder import Language, WorkOrder


def order(stmt: str, setup: str = "", global_setup: str = "", **others) -> WorkOrder:
    return WorkOrder(
        "label", stmt=stmt, setup=setup, global_setup=global_setup, language=Language.CPP, **others
    )


@pytest.mark.parametrize(
    "stmt",
    [
        "v.at(3);",
        "std::sort(v.begin(), v.end());",
        "int format = 1; cat::meow();",
        "that::at_end();",
        "x.torch();",
    ],
)
def test_plain_cpp_needs_no_torch(stmt: str):
    assert not needs_torch(order(stmt))
    assert source_of(order(stmt)).headers == ()


@pytest.mark.parametrize(
    ("stmt", "headers"),
    [
        ("at::ones({3});", ATEN),
        ("at :: ones({3});", ATEN),
        ("c10::SmallVector<int, 3> v;", ATEN),
        ("using namespace at; ones({3});", ATEN),
        ("TORCH_CHECK(x == 1);", ATEN),
        ("torch::ones({3}); torch::NoGradGuard guard;", TENSORS),
        ("torch::Tensor x = torch::ones({3}, torch::kFloat32);", TENSORS),
        ("torch::nn::Linear l(3, 4);", ALL_OF_TORCH),
        ("torch::ones({3}); torch::nn::functional::relu(x);", ALL_OF_TORCH),
        ("torch::save(x, path);", ALL_OF_TORCH),
        ("torch::kReLU;", ALL_OF_TORCH),
        ("using namespace torch;", ALL_OF_TORCH),
    ],
)
def test_the_smallest_headers_that_will_do(stmt: str, headers: tuple[str, ...]):
    assert source_of(order(stmt)).headers == headers
    assert source_of(order("x;", setup=stmt)).headers == headers
    assert source_of(order("x;", global_setup=stmt)).headers == headers


def test_torch_can_be_requested():
    assert source_of(order("mine();", global_setup='#include "mine.h"', imports=("torch",))).headers == ATEN
    assert source_of(order("x;", global_setup="#include <torch/torch.h>")).headers == ALL_OF_TORCH


def test_the_users_lines_keep_their_numbers():
    lines = source_of(order("a {\n}; // {0}", "one\ntwo", "global {x}")).text.split("\n")
    for name, own in (
        ("stmt", ["a {", "}; // {0}"]),
        ("setup", ["one", "two"]),
        ("global_setup", ["global {x}"]),
    ):
        start = lines.index(f'#line 1 "<{name}>"')
        assert lines[start + 1 : start + 2 + len(own)] == [*own, '#line 1 "<profkit>"']


def test_equal_statements_are_equal_sources_whatever_they_are_called():
    assert source_of(order("a;")) == source_of(WorkOrder("other", stmt="a;", language=Language.CPP, number=3))
    assert source_of(order("a;")) != source_of(order("b;"))


def test_torchscript_is_part_of_the_source():
    scripted = order("auto y = profkit_model.forward({x});", script="def model(x):\n    return x\n")
    source = source_of(scripted)
    assert needs_torch(scripted)
    assert source.headers == (*ATEN, *TORCHSCRIPT)
    assert "profkit_script_begin" in source.text
    assert source.script == scripted.script
    assert "profkit_script_begin" not in source_of(order("at::ones({2});")).text


@given(st.binary(min_size=1, max_size=40).filter(lambda name: b"\0" not in name))
def test_any_path_can_be_reported_to_the_assembler(name: bytes):
    written = in_assembly(Path(os.fsdecode(b"/a/" + name)))
    assert written.isascii()
    assert not set(written) & set('"\n% ')
    read = re.sub(rb"\\\\(\d{3})", lambda octal: bytes([int(octal[1], 8)]), written.encode())
    assert read == os.fsencode(Path(os.fsdecode(b"/a/" + name)))
