"""Names of functions as they hold in any environment: without the folders where it was built or installed."""

from __future__ import annotations

import posixpath
import re

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
