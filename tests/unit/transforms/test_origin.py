"""Names that hold in any environment."""

from __future__ import annotations

import linecache

import pytest

from profkit.model.profile import Frame
from profkit.model.session import CellName
from profkit.transforms.identity import file_identity
from profkit.transforms.origin import (
    ANY_CELL,
    cell_name,
    is_cell,
    is_library_file,
    lines_of_cell,
    package_of,
    remember_cells,
    shown_file,
    standard_file,
    standard_name,
    standard_object,
    with_cell_names,
)
from tests.support.profile_strategies import built


@pytest.mark.parametrize(
    ("path", "standard"),
    [
        ("/tmp/build/80754af9/python_1627392990942/work/Objects/dictobject.c", "Objects/dictobject.c"),
        ("/tmp/build/80754af9/something_1/work/src/core.c", "src/core.c"),
        ("/tmp/python-build.20260509073455.222/Python-3.11.7/./Modules/_io/textio.c", "Modules/_io/textio.c"),
        ("/usr/src/python3.11/build/../Python/ceval.c", "Python/ceval.c"),
        ("/home/me/venv/lib/python3.11/site-packages/numpy/core/x.c", "numpy/core/x.c"),
        ("/usr/lib/python3/dist-packages/thing/x.c", "thing/x.c"),
        ("/pytorch/aten/src/ATen/native/Add.cpp", "aten/src/ATen/native/Add.cpp"),
        ("/opt/conda/conda-bld/pytorch_16/work/c10/core/CPUAllocator.cpp", "c10/core/CPUAllocator.cpp"),
        ("./malloc/./malloc/malloc.c", "malloc/malloc.c"),
        ("/build/glibc-e2p3jK/glibc-2.31/malloc/malloc.c", "malloc/malloc.c"),
        ("./string/../sysdeps/x86_64/multiarch/memmove.S", "sysdeps/x86_64/multiarch/memmove.S"),
        ("/usr/include/c++/12/bits/stl_algo.h", "c++/bits/stl_algo.h"),
        ("/usr/src/debug/openblas-0.3/kernel/dot.c", "kernel/dot.c"),
        ("/home/me/project/core.c", "/home/me/project/core.c"),
        ("???", "???"),
        ("", ""),
    ],
)
def test_files(path: str, standard: str) -> None:
    assert standard_file(path) == standard


@pytest.mark.parametrize(
    ("name", "standard"),
    [
        ("a.c:f.constprop.0", "a.c:f.constprop"),
        ("a.c:f.part.12'2", "a.c:f.part'2"),
        (
            "a.cpp:main::{lambda(int)#3}::operator()(int) const",
            "a.cpp:main::{lambda(int)}::operator()(int) const",
        ),
        ("a.cpp:run()::$_12::operator()() const", "a.cpp:run()::$_::operator()() const"),
        ("x.c:pthread_key_delete@@GLIBC_2.34", "x.c:pthread_key_delete"),
        ("???:0x0000000000023ac6", "???:<nameless> in libown.so"),
        ("???:at::f(int) [clone .isra.0]", "???:at::f(int) [clone .isra]"),
        ("a.cpp:operator()(int, char)", "a.cpp:operator()(int, char)"),
    ],
)
def test_functions(name: str, standard: str) -> None:
    assert standard_name(name, "/somewhere/libown.so") == standard


@pytest.mark.parametrize(
    ("path", "standard"),
    [
        ("/x/libpython3.11.so.1.0", "libpython.so.1.0"),
        ("/x/_json.cpython-311-x86_64-linux-gnu.so", "_json.so"),
        ("/x/libgomp-a34b3233.so.1.0.0", "libgomp.so.1.0.0"),
        ("/usr/lib/libc.so.6", "libc.so.6"),
        ("", ""),
    ],
)
def test_objects(path: str, standard: str) -> None:
    assert standard_object(path) == standard


KERNEL = "/tmp/ipykernel_4711/2846712398.py"
TERMINAL = "<ipython-input-12-9e1622b385b6>"


@pytest.mark.parametrize("file", [KERNEL, TERMINAL, "In [3]", ANY_CELL])
def test_all_cells_have_one_identity(file: str) -> None:
    assert is_cell(file)
    assert file_identity(file) == ANY_CELL
    assert not is_library_file(file)


@pytest.mark.parametrize("file", ["", "/tmp/ipykernel_4711.py", "<stdin>", "In [3].py", "notebook/In [3]"])
def test_other_files_keep_theirs(file: str) -> None:
    assert not is_cell(file)
    assert file_identity(file) != ANY_CELL


def test_names_replace_files() -> None:
    names = {KERNEL: cell_name(3)}
    assert shown_file(KERNEL, names) == "In [3]"
    assert shown_file(KERNEL, {}) == KERNEL
    assert shown_file(TERMINAL, names) == "In [12]"
    assert package_of("In [3]") == "In [3]"
    profile = built(((Frame("<module>", KERNEL, 2), Frame("f", "app.py", 7)), 1))
    named = with_cell_names(profile, names)
    assert named.frames == (Frame("<module>", "In [3]", 2), Frame("f", "app.py", 7))
    assert with_cell_names(named, names) is named


def test_lines_are_those_that_were_compiled() -> None:
    linecache.cache[KERNEL] = 12, None, ["x = 1\n", "y = 2\n"], KERNEL
    try:
        remember_cells([CellName(KERNEL, "In [3]")])
        assert lines_of_cell("In [3]") == ("x = 1", "y = 2")
        assert lines_of_cell("In [4]") == ()
    finally:
        del linecache.cache[KERNEL]
