"""What the name of a file tells about the code in it: profkit's own, a library's, native, or the user's."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from profkit.model.frame import Frame

_RECORDING = ("session/", "decorators.py", "profiler.py")
# Of the recording code, what runs users' functions: everything else works for profkit alone.
_CALLING = ("session/markers.py", "session/steps.py")

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
