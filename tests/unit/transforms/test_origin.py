"""Names that hold in any environment."""

from __future__ import annotations

import pytest

from profkit.transforms.origin import standard_file, standard_name, standard_object


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
