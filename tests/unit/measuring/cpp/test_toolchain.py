"""What decides whether something compiled can be used again, and which torch it is compiled against."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from profkit.errors import CompileFailed, InvalidOption
from profkit.measuring.cpp.building import ObjectCompilation, worth_precompiling
from profkit.measuring.cpp.cache import Cache
from profkit.measuring.cpp.source import ATEN, Source
from profkit.measuring.cpp.toolchain import Toolchain, TorchBuild, read_build, toolchain, torch_build
from profkit.model.workorder import Language, WorkOrder

TORCH = TorchBuild(Path("/site/torch"), "2.13.0+cpu", cxx11_abi=True, standard="c++20", built=1)
GCC = Toolchain(("/usr/bin/g++",), "g++ (Debian 12.2.0-14) 12.2.0", (), (), TORCH)
TENSORS = Source(ATEN, "text")


def unit(text: str, tools: Toolchain = GCC, headers: tuple[str, ...] = ATEN) -> ObjectCompilation:
    order = WorkOrder(text, stmt=text, language=Language.CPP)
    return ObjectCompilation(order, Source(headers, text), tools, Path("/home"))


def fake_torch(folder: Path, symbol: bytes, standard: str = "-std=c++17") -> Path:
    root = folder / "torch"
    (root / "utils").mkdir(parents=True)
    (root / "lib").mkdir()
    (root / "version.py").write_text("debug = False\n__version__ = '1.2.3+cu9'\n")
    (root / "utils" / "cpp_extension.py").write_text(f"flags = ['{standard}']\n")
    (root / "lib" / "libc10.so").write_bytes(b"\x7fELF\0" + symbol + b"\0")
    return root


@pytest.mark.parametrize(
    "other",
    [
        replace(GCC, version="g++ 13"),
        replace(GCC, compiler=("/usr/bin/ccache", "/usr/bin/g++")),
        replace(GCC, own_flags=("-march=native",)),
        replace(GCC, paths=("CPATH=/opt",)),
        replace(GCC, torch=replace(TORCH, version="2.12")),
        replace(GCC, torch=replace(TORCH, cxx11_abi=False)),
        replace(GCC, torch=replace(TORCH, built=2)),
        replace(GCC, torch=None),
    ],
)
def test_another_toolchain_makes_other_things(other: Toolchain):
    assert other.key(ATEN) != GCC.key(ATEN)
    assert other.object_key(TENSORS, Path("/")) != GCC.object_key(TENSORS, Path("/"))


def test_the_folder_matters_where_a_header_is_looked_for_in_it():
    def keys(text: str) -> set[str]:
        return {GCC.object_key(Source(ATEN, text), Path(folder)) for folder in ("/a", "/b")}

    assert len(keys("#include <vector>")) == 1
    assert len(keys('# include "mine.h"')) == 2


def test_words_for_a_torch():
    command = GCC.compile_command(Path("s.cpp"), Path("o.so"), Path("/home"), Path("/c/header.h"))
    assert command[0] == "/usr/bin/g++"
    for word in (
        "-std=c++20",
        "/site/torch/include",
        "-D_GLIBCXX_USE_CXX11_ABI=1",
        "-Wl,-rpath,/site/torch/lib",
    ):
        assert word in command
    assert command[command.index("-include") + 1] == "/c/header.h"
    plain = replace(GCC, torch=None).compile_command(Path("s.cpp"), Path("o.so"), Path("/home"), None)
    assert not [word for word in plain if "torch" in word or word == "-include"]


def test_precompiling_pays_for_many_orders_or_after_many(tmp_path: Path):
    def worth(units: list[ObjectCompilation], workers: int = 2) -> int:
        return len(worth_precompiling(units, Cache(tmp_path), workers))

    many = [unit(str(number)) for number in range(5)]
    assert worth(many) == 1
    assert worth(many[:4]) == 0
    assert worth(many[:3], workers=1) == 1
    assert worth([unit(one.source.text, headers=()) for one in many]) == 0
    assert (
        worth([unit(one.source.text, replace(GCC, version="Debian clang version 14")) for one in many]) == 0
    )
    for kept in many[:3]:
        (tmp_path / f"{kept.key}.json").touch()
    assert worth(many[:1]) == 1


def test_what_a_torch_says_of_itself(tmp_path: Path):
    new = read_build(
        fake_torch(tmp_path / "new", b"_ZN3c105ErrorC1ENSt7__cxx1112basic_stringIcE", "-std=c++20")
    )
    old = read_build(fake_torch(tmp_path / "old", b"_ZN3c105ErrorC1ESs"))
    assert (new.cxx11_abi, new.standard, new.version) == (True, "c++20", "1.2.3+cu9")
    assert (old.cxx11_abi, old.standard) == (False, "c++17")


@pytest.mark.torch
def test_the_torch_of_this_interpreter_is_found_without_importing_it():
    asked = """
import sys
from profkit.measuring.cpp.toolchain import torch_build
from profkit.model.workorder import WorkOrder
build = torch_build(WorkOrder("x", stmt="x"))
assert "torch" not in sys.modules
import torch
assert build.version == torch.__version__
assert build.cxx11_abi == torch._C._GLIBCXX_USE_CXX11_ABI
"""
    subprocess.run([sys.executable, "-c", asked], check=True, timeout=60)


def test_another_interpreter_is_asked(tmp_path: Path):
    root = fake_torch(tmp_path, b"_ZN3c105ErrorC1ESs")
    (root / "__init__.py").touch()
    order = WorkOrder("x", stmt="x", language=Language.CPP, python=sys.executable)
    assert torch_build(replace(order, env=(("PYTHONPATH", str(tmp_path)),))).root == root
    script = tmp_path / "activate"
    script.write_text('#!/bin/sh\necho "welcome to torch: 9"\nPYTHONPATH="${0%/*}" exec "$@"\n')
    script.chmod(0o755)
    assert torch_build(replace(order, source_cmd=(str(script),))).root == root


def test_an_interpreter_without_torch_is_named(tmp_path: Path):
    bare = tmp_path / "python"
    bare.write_text(f'#!/bin/sh\nexec {sys.executable} -I -S "$@"\n')
    bare.chmod(0o755)
    with pytest.raises(CompileFailed, match=f"{bare} has no torch"):
        torch_build(WorkOrder("x", stmt="at::x", language=Language.CPP, python=str(bare)))


@pytest.mark.parametrize("name", ["CXX", "CXXFLAGS"])
def test_a_variable_with_an_open_quote_is_named(name: str):
    with pytest.raises(InvalidOption, match=f"^{name}='\"g.*quote its words"):
        toolchain({name: '"g++'}, None)
