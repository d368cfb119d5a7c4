"""Compiler, its arguments, and the build of an order's torch."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from profkit.errors import CompileFailed, InvalidOption, ToolMissing
from profkit.measuring.cpp.source import Source
from profkit.model.workorder import WorkOrder

_FIND_TORCH = """
import importlib.util, sys
sys.path = [folder for folder in sys.path if folder]
spec = importlib.util.find_spec("torch")
print("\\ntorch:", (spec and spec.origin) or "")
"""
_FIND_TORCH_TIMEOUT_S = 120.0


@dataclass(frozen=True, slots=True)
class TorchBuild:
    """Facts about a torch that are needed to compile against it."""

    root: Path
    version: str
    cxx11_abi: bool
    """True if its interfaces use the newer of libstdc++'s two strings (_GLIBCXX_USE_CXX11_ABI)."""
    standard: str
    """C++ standard for its own extensions, such as "c++20"."""
    built: int
    """Modification time of its library, in ns; distinguishes builds of one version."""


def torch_build(order: WorkOrder) -> TorchBuild:
    """Return the torch that the order's interpreter would import; raise CompileFailed if there is none."""
    is_elsewhere = order.source_cmd or order.env or order.python
    root = _root_of_interpreter(interpreter(order), order.env) if is_elsewhere else _own_root()
    if root is None:
        raise CompileFailed(
            order.label,
            f"{interpreter(order)[-1]} has no torch, which this statement uses; pip install 'profkit[torch]'",
        )
    try:
        return read_build(root)
    except OSError as error:
        raise CompileFailed(
            order.label, f"the torch in {root} cannot be compiled against: {error}"
        ) from error


def interpreter(order: WorkOrder) -> tuple[str, ...]:
    """Return the words that start the order's Python."""
    return (*order.source_cmd, order.python or ("python" if order.source_cmd else sys.executable))


def _own_root() -> Path | None:
    spec = importlib.util.find_spec("torch")
    return Path(spec.origin).parent if spec is not None and spec.origin else None


@cache
def _root_of_interpreter(command: tuple[str, ...], env: tuple[tuple[str, str], ...]) -> Path | None:
    try:
        done = subprocess.run(
            [*command, "-c", _FIND_TORCH],
            env={**os.environ, **dict(env)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=_FIND_TORCH_TIMEOUT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    found = re.search(r"^torch: (.+)$", done.stdout, re.MULTILINE)
    return Path(found[1]).parent if found else None


@cache
def read_build(root: Path) -> TorchBuild:
    """Read the files of an installed torch; raise OSError if some are missing."""
    version = re.search(r"^__version__ = '(.+)'", (root / "version.py").read_text("utf-8"), re.MULTILINE)
    standard = re.search(r"-std=(c\+\+\d\w)", (root / "utils/cpp_extension.py").read_text("utf-8"))
    library = root / "lib" / "libc10.so"
    return TorchBuild(
        root=root,
        version=version[1] if version else "",
        # Names with the new strings contain this; a library of the other kind has none in its namespace.
        cxx11_abi=re.search(rb"_ZNK?3c10[^\0]*__cxx11", library.read_bytes()) is not None,
        standard=standard[1] if standard else "c++17",
        built=library.stat().st_mtime_ns,
    )


_FORMAT = "1"
"""Format of the cached files; another number invalidates all of them."""
_STANDARD = "c++20"
_FLAGS = (
    "-O2",
    "-g1",  # line numbers, so that counts can be shown by line
    "-w",
    "-fPIC",
    "-fno-semantic-interposition",  # the user's functions may be inlined, as in their own program
    "-fmessage-length=0",
)
_PATH_VARIABLES = ("CPATH", "CPLUS_INCLUDE_PATH", "LIBRARY_PATH")


@dataclass(frozen=True, slots=True)
class Toolchain:
    """Compiler and its settings for one order: for plain C++, or against a torch."""

    compiler: tuple[str, ...]
    """$CXX in words, else g++ or c++; the first word is an absolute path."""
    version: str
    own_flags: tuple[str, ...]
    """$CXXFLAGS."""
    paths: tuple[str, ...]
    """Environment variables with the compiler's search paths for headers and libraries."""
    torch: TorchBuild | None

    @property
    def precompiles(self) -> bool:
        """True if headers can be precompiled; clang's different way is not supported."""
        return "clang" not in self.version

    def key(self, headers: tuple[str, ...]) -> str:
        """Return a key, equal for objects that can use the same precompiled headers."""
        return _digest(
            _FORMAT, *self.compiler, self.version, repr(self.torch), *self._flags(), *self.paths, *headers
        )

    def object_key(self, source: Source, cwd: Path) -> str:
        """Return a key, equal for sources that compile to the same object; it begins with the header key."""
        where = str(cwd) if re.search(r'#\s*include\s*"', source.text) else ""
        script = (source.script,) if source.script else ()
        return f"{self.key(source.headers)}-{_digest(source.text, where, *script)}"

    def script_key(self, script: str) -> str:
        """Return a key, equal for texts that compile to the same TorchScript."""
        return f"script-{_digest(_FORMAT, repr(self.torch), script)}"

    def compile_command(self, source: Path, target: Path, cwd: Path, precompiled: Path | None) -> list[str]:
        """Return the command that compiles `source` to a shared object, including headers from `cwd`.

        The compiler lists the headers that it read, except those of the system and of torch, in `target`.d.
        """
        ahead = ["-include", str(precompiled)] if precompiled is not None else []
        listed = ["-MMD", "-MF", f"{target}.d"]
        command = [*self.compiler, *self._flags(), *ahead, *listed, "-iquote", str(cwd)]
        return [*command, "-shared", str(source), "-o", str(target), *self._link_flags()]

    def precompile_command(self, header: Path) -> list[str]:
        """Return the command that precompiles `header` to the file beside it that the compiler looks for."""
        return [*self.compiler, *self._flags(), "-x", "c++-header", str(header), "-o", f"{header}.gch"]

    def _flags(self) -> tuple[str, ...]:
        if self.torch is None:
            return (f"-std={_STANDARD}", *_FLAGS, *self.own_flags)
        include = self.torch.root / "include"
        return (
            f"-std={self.torch.standard}",
            *_FLAGS,
            *("-isystem", str(include)),
            *("-isystem", str(include / "torch/csrc/api/include")),
            f"-D_GLIBCXX_USE_CXX11_ABI={int(self.torch.cxx11_abi)}",
            *self.own_flags,
        )

    def _link_flags(self) -> tuple[str, ...]:
        undefined = "-Wl,--no-undefined"
        if self.torch is None:
            return (undefined,)
        folder = str(self.torch.root / "lib")
        return (undefined, "-L", folder, f"-Wl,-rpath,{folder}", "-ltorch", "-ltorch_cpu", "-lc10")


def toolchain(env: Mapping[str, str], torch: TorchBuild | None) -> Toolchain:
    """Return the compiler that an environment names; raise ToolMissing or InvalidOption if there is none."""
    named, flags = _words(env, "CXX"), _words(env, "CXXFLAGS")
    program = named[0] if named else "g++"
    path = shutil.which(program, path=env.get("PATH")) or (
        None if named else shutil.which("c++", path=env.get("PATH"))
    )
    if path is None:
        fix = "install it (Debian, Ubuntu: apt-get install g++), or set CXX to another compiler"
        raise ToolMissing(program, "a C++ statement", fix)
    return Toolchain(
        compiler=(path, *named[1:]),
        version=_version((path, *named[1:]), os.stat(path).st_mtime_ns),
        own_flags=flags,
        paths=tuple(f"{name}={env[name]}" for name in _PATH_VARIABLES if name in env),
        torch=torch,
    )


def _words(env: Mapping[str, str], name: str) -> tuple[str, ...]:
    text = env.get(name, "")
    try:
        return tuple(shlex.split(text))
    except ValueError as error:
        raise InvalidOption(name, text, f"quote its words as a shell does ({error})") from error


@cache
def _version(compiler: tuple[str, ...], changed_ns: int) -> str:
    """Return the compiler's version; the arguments identify its program for the cache."""
    command = [*compiler, "--version"]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    return done.stdout.strip()


def _digest(*words: str) -> str:
    return hashlib.blake2b(json.dumps(words).encode(), digest_size=12).hexdigest()
