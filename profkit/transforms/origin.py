"""Classify code by its file, and normalize function names across environments."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from profkit.model.profile import Frame

_RECORDING = ("session/", "calls/", "decorators.py", "profiler.py")
# Of the recording code, what runs users' functions: everything else works for profkit alone.
_CALLING = ("calls/markers.py", "calls/stepping.py")

# `site-packages` and Debian's `dist-packages`; the standard library in `lib/python3.11/`,
# `lib64/python3.11/` or `lib/python311.zip/`.
_LIBRARY = re.compile(r"/(site|dist)-packages/|/lib(64)?/python[\d.]+(t|\.zip)?/")
# Everything up to the folder that imports start from: installed packages, the standard library.
_IMPORT_ROOT = re.compile(
    r".*/(?:(?:site|dist)-packages|lib(?:64)?/python[\d.]+t?(?:/lib-dynload)?|python\d+\.zip)/"
)
# Shared objects with or without a version, and the sources that debug information names.
_NATIVE = re.compile(r"\.(so(\.\d+)*|c|cc|cpp|cxx|cu|h|hpp|S|rs)$")
# What people type has names in angle brackets too: the prompts of Python, IPython and doctest.
_TYPED = re.compile(r"<(stdin|console|python-input|ipython-input|doctest)")


@dataclass(frozen=True, slots=True)
class OwnCode:
    """Profkit's own files, wherever its package folder is; one folder per installation."""

    packages: tuple[str, ...]

    def records(self, file: str) -> bool:
        """Whether the file belongs to the recording code, which stands between a caller and its callee."""
        return any(file.startswith(f"{package}/{part}") for package in self.packages for part in _RECORDING)

    def calls_for_program(self, file: str) -> bool:
        """Whether what stands above a frame of this recording file is the program's, a library's included."""
        return any(file == f"{package}/{part}" for package in self.packages for part in _CALLING)

    def holds(self, file: str) -> bool:
        """Whether the file belongs to profkit at all."""
        return any(file.startswith(f"{package}/") for package in self.packages)

    def also_of(self, frames: Iterable[Frame], markers: Iterable[str]) -> OwnCode:
        """With the installation that was recorded, which may be that of another environment or container.

        Its marker frames tell where it was.
        """
        names = frozenset(markers)
        heads = {frame.file.rpartition("/profkit/")[0] for frame in frames if frame.name in names}
        found = {f"{head}/profkit" for head in heads if head}
        return OwnCode((*self.packages, *sorted(found.difference(self.packages))))


OWN_CODE = OwnCode((str(Path(__file__).parents[1]),))
"""The code of this installation."""


def from_import_root(file: str) -> str:
    """A library's file from where imports start, such as `json/encoder.py`; any other as it is."""
    return _IMPORT_ROOT.sub("", file)


def is_native_file(file: str) -> bool:
    """Whether a frame of this file is machine code: a shared object, or the source it was built from."""
    return _NATIVE.search(file) is not None


def is_library_file(file: str) -> bool:
    """Whether the user did not write this file: packages, the standard library, native and generated code.

    Generated code is what has no file, or one in angle brackets that nobody typed, such as
    `<frozen importlib._bootstrap>` or the `<string>` of dataclasses.
    """
    if not file or file.startswith("<"):
        return _TYPED.match(file) is None
    return _LIBRARY.search(file) is not None or is_native_file(file)


_HASH = r"[0-9a-f]{8}"

_ROOTS = tuple(
    re.compile(pattern)
    for pattern in (
        r"^.*/(?:site|dist)-packages/",
        # CPython's own folders, wherever it was built.
        r"^.*?/(?=(?:Objects|Python|Modules|Parser|Programs|Include)/)",
        # PyTorch's.
        r"^.*?/(?=(?:aten/src|c10|caffe2|torch/csrc|third_party)/)",
        r"^.*/glibc-[^/]*/",
        r"^.*/include/(?=c\+\+/)",
        # Packagers': conda's, in /tmp/build/HASH/NAME/work, and feedstocks'; pip's, pyenv's, the system's.
        r"^.*/(?:build_artifacts|conda-bld)/[^/]+/(?:work/)?",
        rf"^.*/build/{_HASH}/(?:[^/]+/work/)?",
        r"^.*/pip-(?:install|req-build|build-env)-[^/]+/(?:[^/]+_[0-9a-f]{16,}/)?",
        r"^.*/python-build\.[^/]+/(?:[^/]+/)?",
        r"^/usr/src/(?:debug/)?[^/]+/",
        r"^/(?:var/)?tmp/[^/]+/",
    )
)
"""What a source file's path begins with; the first that fits is cut off."""

_LIBRARY_VERSION = re.compile(r"(c\+\+)/[\d.]+/")
_TWICE = re.compile(r"^([^/]+)/\1/")
"""A folder that a compiler's own folder and the path from there both name, as in glibc's `malloc/malloc/`."""

_ADDRESS = re.compile(r"^0x[0-9a-f]+")
_NUMBERED = re.compile(
    r"@@?[\w.]+|(?<=\))#\d+(?=\})|(?<=\{unnamed type)#\d+(?=\})|(?<=\$_)\d+|(?<='lambda)\d+|\.\d+\b"
)
"""Versions of symbols, and what compilers count: GCC's and Clang's lambdas, copies as `.constprop.0`."""

_BUILD_TAG = re.compile(
    rf"\.(?:cpython|abi|pypy)[\w-]*(?=\.so)|-{_HASH}(?=[.\w]*\.so)|(?<=libpython)[\d.]*\d"
)


def standard_name(name: str, shared_object: str = "") -> str:
    """A `file:function` without build and installation folders, addresses and numbers of nameless functions.

    The shared object stands for the name of a function that has none.
    """
    file, _, function = name.partition(":")
    if _ADDRESS.match(function):
        within = standard_object(shared_object)
        return f"{standard_file(file)}:<nameless>{f' in {within}' if within else ''}"
    return f"{standard_file(file)}:{_NUMBERED.sub('', function)}"


def standard_file(path: str) -> str:
    """A source file from the top folder of its own project on, where that can be told."""
    path = posixpath.normpath(path) if path else path
    for root in _ROOTS:
        cut = root.sub("", path, count=1)
        if cut != path:
            path = cut
            break
    return _TWICE.sub(r"\1/", _LIBRARY_VERSION.sub(r"\1/", path))


def standard_object(path: str) -> str:
    """A shared object's file without its folder, and without what names one build of it."""
    return _BUILD_TAG.sub("", path.rpartition("/")[2])
