"""Classify code by its file: own, library, native, cell, package; drop what a build adds to names."""

from __future__ import annotations

import linecache
import posixpath
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from profkit.model.profile import Frame, Profile
from profkit.model.session import CellName

# Names, because these modules are on higher floors. `_paths_of` finds their files.
_RECORDING = (
    "profkit.session",
    "profkit.calls",
    "profkit.decorators",
    "profkit.profiler",
    "profkit.process.fork_hooks",
    "profkit.process.guard",
    "profkit.pytorch",
    "profkit.integrations.web",
)
# Recording code that runs users' functions; the rest works only for profkit.
_CALLING = (
    "profkit.calls.importlib_bootstrap.markers",
    "profkit.calls.importlib_bootstrap.stepping",
    "profkit.calls.importlib_bootstrap.carrying",
    "profkit.integrations.ipython.magics",
    "profkit.integrations.web.asgi",
    "profkit.integrations.web.wsgi",
    "profkit.integrations.web.django",
    "profkit.integrations.web.following",
)
_MARKERS = ("profkit.calls.importlib_bootstrap.markers", "profkit.calls.importlib_bootstrap.carrying")
_ADDED = "/importlib_bootstrap"
"""Folder that these paths did not have in recordings of earlier versions."""
_THREADS = ("profkit.process.background",)

# `site-packages` and Debian's `dist-packages`; the standard library in `lib/python3.11/`,
# `lib64/python3.11/` or `lib/python311.zip/`.
_LIBRARY = re.compile(r"/(site|dist)-packages/|/lib(64)?/python[\d.]+(t|\.zip)?/")
# Everything up to the import root: that of installed packages or of the standard library.
_IMPORT_ROOT = re.compile(
    r".*/(?:(?:site|dist)-packages|lib(?:64)?/python[\d.]+t?(?:/lib-dynload)?|python\d+\.zip)/"
)
# Shared objects with or without a version, and sources named in debug information.
_NATIVE = re.compile(r"\.(so(\.\d+)*|c|cc|cpp|cxx|cu|h|hpp|S|rs)$")
# Code that users enter has names in angle brackets too: prompts of Python, IPython and doctest.
_TYPED = re.compile(r"<(stdin|console|python-input|ipython-input|doctest)")


@dataclass(frozen=True, slots=True)
class OwnCode:
    """Files of profkit itself; one package folder per installation."""

    packages: tuple[str, ...]

    def records(self, file: str) -> bool:
        """Return whether the file is recording code, which runs between a caller and its callee."""
        return file.startswith(_recording_paths(self.packages))

    def calls_for_program(self, file: str) -> bool:
        """Return whether frames above this recording file are the program's, including library frames."""
        paths = _with_former(_paths_of(_CALLING))
        return any(file == f"{package}/{path}" for package in self.packages for path in paths)

    def holds(self, file: str) -> bool:
        """Return whether the file belongs to profkit."""
        return any(file.startswith(f"{package}/") for package in self.packages)

    def also_of(self, frames: Iterable[Frame], markers: Iterable[str]) -> OwnCode:
        """Return these files plus those of the recorded installation.

        Its marker frames show where it was, which may be in another environment or container.
        """
        names = frozenset(markers)
        heads = {file.rpartition("/profkit/")[0] for name, file, _ in frames if name in names}
        packages = {f"{head}/profkit" for head in heads if head}
        return OwnCode((*self.packages, *sorted(packages.difference(self.packages))))


OWN_CODE = OwnCode((str(Path(__file__).parents[1]),))
"""Code of this installation."""


def is_markers_file(file: str) -> bool:
    """Return whether a file defines the markers, in any installation of profkit."""
    return file.endswith(tuple(f"/profkit/{path}" for path in _with_former(_paths_of(_MARKERS))))


def _with_former(paths: tuple[str, ...]) -> tuple[str, ...]:
    return (*paths, *(path.replace(_ADDED, "") for path in paths if _ADDED in path))


def is_threads_file(file: str) -> bool:
    """Return whether a file has the outermost frame of profkit's own threads, in any installation."""
    return file.endswith(tuple(f"/profkit/{path}" for path in _paths_of(_THREADS)))


@cache
def _recording_paths(packages: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(f"{package}/{path}" for package in packages for path in _paths_of(_RECORDING))


@cache
def _paths_of(modules: tuple[str, ...]) -> tuple[str, ...]:
    """Return the paths of modules of profkit, relative to its folder; that of a package ends with a slash.

    Raises ModuleNotFoundError if there is no such module. Imports nothing but the modules' packages.
    """
    from importlib.util import find_spec  # only reading a profile needs it; a profiled call does not

    paths = []
    for module in modules:
        if (spec := find_spec(module)) is None:
            raise ModuleNotFoundError(f"profkit has no module {module}", name=module)
        path = module.partition(".")[2].replace(".", "/")
        paths.append(f"{path}/" if spec.submodule_search_locations is not None else f"{path}.py")
    return tuple(paths)


def from_import_root(file: str) -> str:
    """Return a library's file relative to its import root, such as `json/encoder.py`; others unchanged."""
    return _IMPORT_ROOT.sub("", file)


CHILD_PREFIX = "<process "
"""Beginning of the file of a frame that represents a child process."""


def is_child_file(file: str) -> bool:
    """Return whether a frame with this file represents a child process."""
    return file.startswith(CHILD_PREFIX)


def package_of(file: str) -> str:
    """Return a file's package: `torch`, `libc.so.6`, `importlib._bootstrap`, `<string>`, `process` or `?`."""
    if file.startswith("<frozen "):
        return file[len("<frozen ") : -1]
    if is_child_file(file):
        return "process"
    path = from_import_root(file)
    part = path.rsplit("/", 1)[-1] if path.startswith("/") else path.split("/", 1)[0]
    return part.removesuffix(".py") or "?"


def is_native_file(file: str) -> bool:
    """Return whether a frame of this file is machine code: a shared object, or its source."""
    return _NATIVE.search(file) is not None


def is_library_file(file: str) -> bool:
    """Return whether the file is not the user's: packages, the standard library, native or generated code.

    Generated code has no file, or a name in angle brackets that a user did not enter, such as `<frozen
    importlib._bootstrap>` or the `<string>` of dataclasses.
    """
    if not file or file.startswith("<"):
        return _TYPED.match(file) is None
    return _LIBRARY.search(file) is not None or is_native_file(file)


_HASH = r"[0-9a-f]{8}"

_ROOTS = tuple(
    re.compile(pattern)
    for pattern in (
        r"^.*/(?:site|dist)-packages/",
        # CPython's own folders, in any build folder.
        r"^.*?/(?=(?:Objects|Python|Modules|Parser|Programs|Include)/)",
        # PyTorch's folders.
        r"^.*?/(?=(?:aten/src|c10|caffe2|torch/csrc|third_party)/)",
        r"^.*/glibc-[^/]*/",
        r"^.*/include/(?=c\+\+/)",
        # Build folders: conda's (/tmp/build/HASH/NAME/work) and feedstocks'; pip's, pyenv's, the system's.
        r"^.*/(?:build_artifacts|conda-bld)/[^/]+/(?:work/)?",
        rf"^.*/build/{_HASH}/(?:[^/]+/work/)?",
        r"^.*/pip-(?:install|req-build|build-env)-[^/]+/(?:[^/]+_[0-9a-f]{16,}/)?",
        r"^.*/python-build\.[^/]+/(?:[^/]+/)?",
        r"^/usr/src/(?:debug/)?[^/]+/",
        r"^/(?:var/)?tmp/[^/]+/",
    )
)
"""Prefixes of source file paths; the first that matches is removed."""

_LIBRARY_VERSION = re.compile(r"(c\+\+)/[\d.]+/")
_TWICE = re.compile(r"^([^/]+)/\1/")
"""A folder named by both a compiler's own folder and the path from there, as in glibc's `malloc/malloc/`."""

_ADDRESS = re.compile(r"^0x[0-9a-f]+")
_NUMBERED = re.compile(
    r"@@?[\w.]+|(?<=\))#\d+(?=\})|(?<=\{unnamed type)#\d+(?=\})|(?<=\$_)\d+|(?<='lambda)\d+|\.\d+\b"
)
"""Symbol versions, and numbers added by compilers: lambdas (GCC, Clang), copies such as `.constprop.0`."""

_COPY = re.compile(
    r" \[clone [^]]*\]|\.(?:cold|constprop|isra|llvm|localalias|lto_priv|part)(?:\.\d+)*(?=[.'@]|$)"
)
"""Suffixes of parts and copies of a function, which each build has others of."""

_BUILD_TAG = re.compile(
    rf"\.(?:cpython|abi|pypy)[\w-]*(?=\.so)|-{_HASH}(?=[.\w]*\.so)|(?<=libpython)[\d.]*\d"
)


def standard_name(name: str, shared_object: str = "") -> str:
    """Return a `file:function` without build and install folders, addresses and numbers of unnamed functions.

    A function without a name is named after its shared object.
    """
    file, _, function = name.partition(":")
    if _ADDRESS.match(function):
        within = standard_object(shared_object)
        return f"{standard_file(file)}:<nameless>{f' in {within}' if within else ''}"
    return f"{standard_file(file)}:{_NUMBERED.sub('', function)}"


def whole_function(name: str) -> str:
    """Return the name of the function that a part or copy made by a compiler belongs to: `f` for `f.cold`."""
    return _COPY.sub("", name)


def standard_function(name: str) -> str:
    """Return a machine function's name without suffixes and numbers that depend on the build."""
    return _NUMBERED.sub("", whole_function(name))


def standard_file(path: str) -> str:
    """Return a source file relative to its project's top folder, if that is recognized."""
    path = posixpath.normpath(path) if path else path
    for root in _ROOTS:
        cut = root.sub("", path, count=1)
        if cut != path:
            path = cut
            break
    return _TWICE.sub(r"\1/", _LIBRARY_VERSION.sub(r"\1/", path))


def standard_object(path: str) -> str:
    """Return a shared object's file name without its folder and build tags."""
    return _BUILD_TAG.sub("", path.rpartition("/")[2])


ANY_CELL = "In [ ]"
"""Identity of all cells: a function keeps it when its cell is edited and runs again."""

_FILE = re.compile(r".*/ipykernel_\d+/\d+\.py|<ipython-input-(?P<number>\d+)-[0-9a-f]+>")
_NAME = re.compile(r"In \[(\d+| )\]")

_FILES: dict[str, str] = {}
"""Files of this process's cells by their names."""


def cell_name(number: int) -> str:
    """Return the name of the cell that was executed as this number, as notebooks show it."""
    return f"In [{number}]"


def is_cell(file: str) -> bool:
    """Return whether this is a cell: its file or its name."""
    return _FILE.fullmatch(file) is not None or _NAME.fullmatch(file) is not None


def remember_cells(cells: Iterable[CellName]) -> None:
    """Remember the files of this process's cells, for `lines_of_cell`."""
    _FILES.update({cell.name: cell.file for cell in cells})


def lines_of_cell(name: str) -> tuple[str, ...]:
    """Return the lines of a cell of this process, as IPython compiled it; none for other names."""
    file = _FILES.get(name)
    return () if file is None else tuple(line.rstrip("\n") for line in linecache.getlines(file))


def shown_file(file: str, names: Mapping[str, str]) -> str:
    """Return the name of a cell by its file; other files unchanged."""
    if (name := names.get(file)) is not None:
        return name
    match = _FILE.fullmatch(file)
    return file if match is None or match["number"] is None else cell_name(int(match["number"]))


def with_cell_names(profile: Profile, names: Mapping[str, str]) -> Profile:
    """Return the profile with the names of cells as the files of their frames."""
    files = {file: shown_file(file, names) for file in {frame.file for frame in profile.frames}}
    if all(file == shown for file, shown in files.items()):
        return profile
    return replace(profile, frames=tuple(f._replace(file=files[f.file]) for f in profile.frames))
