"""Compilers' tasks: a shared object, a set of precompiled headers, or a TorchScript file."""

from __future__ import annotations

import json
import os
import re
import string
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from profkit.errors import CompileFailed
from profkit.measuring.cpp.cache import Cache
from profkit.measuring.cpp.compiling import Compilation, CompilationResult, trimmed
from profkit.measuring.cpp.source import Source, include
from profkit.measuring.cpp.toolchain import Toolchain, interpreter
from profkit.measuring.errors import ScriptFailed
from profkit.model.workorder import WorkOrder


class ObjectCompilation(Compilation):
    """Compilation of one shared object; its label is that of the first order with this source."""

    def __init__(
        self, order: WorkOrder, source: Source, tools: Toolchain, cwd: Path, precompiled: Path | None = None
    ) -> None:
        super().__init__(tools.object_key(source, cwd), order.label, environ_of(order))
        self.order, self.source, self.tools = order, source, tools
        self._cwd, self.precompiled = cwd, precompiled
        self.header_key = tools.key(source.headers)
        """Key of the headers that could be precompiled for it."""
        self.script: Path | None = None
        """TorchScript file that becomes part of it."""

    def command(self, working_folder: Path) -> Sequence[str]:
        """Write the source, and return the command that compiles it."""
        source = working_folder / "source.cpp"
        script = f'#define PROFKIT_SCRIPT "{in_assembly(self.script)}"\n' if self.script else ""
        text = include(self.source.headers) + script + self.source.text
        source.write_text(text, "utf-8", errors="surrogatepass")
        return self.tools.compile_command(source, working_folder / "made.so", self._cwd, self.precompiled)

    def keep(self, cache: Cache, working_folder: Path, output: str) -> CompilationResult:
        """Cache the object with the list of its sources, or return the compiler's error."""
        target = working_folder / "made.so"
        if not target.exists():
            return CompileFailed(self.label, trimmed(output, self.order))
        listed = (working_folder / "made.so.d").read_text("utf-8", errors="surrogateescape")
        own = [path for path in _listed(listed) if not path.is_relative_to(cache.folder)]
        script = cache.headers_of(self.tools.script_key(self.source.script)) if self.script else ()
        return cache.keep(self.key, target, [*own, *script])


class HeaderCompilation(Compilation):
    """Precompilation of one set of headers; its label names the first."""

    def __init__(self, headers: tuple[str, ...], tools: Toolchain, env: Mapping[str, str]) -> None:
        super().__init__(tools.key(headers), f"{headers[0]}, precompiled", env)
        self.headers, self._tools = headers, tools

    def find(self, cache: Cache) -> Path | None:
        """Return the file to include, if it is cached."""
        return cache.find_header(self.key)

    def command(self, working_folder: Path) -> Sequence[str]:
        """Write a header that includes the others, and return the command that precompiles it."""
        target = working_folder / "made"
        target.mkdir()
        (target / "header.h").write_text(include(self.headers), "utf-8")
        return self._tools.precompile_command(target / "header.h")

    def keep(self, cache: Cache, working_folder: Path, output: str) -> CompilationResult:
        """Cache the folder, or return the compiler's error."""
        if not (working_folder / "made" / "header.h.gch").exists():
            return CompileFailed(self.label, output)
        return cache.keep_header(self.key, working_folder / "made")


class ScriptCompilation(Compilation):
    """Compilation of Python text to TorchScript."""

    suffix = ".pt"

    def __init__(self, order: WorkOrder, tools: Toolchain) -> None:
        super().__init__(tools.script_key(order.script), f"{order.label}, TorchScript", environ_of(order))
        self._order = order

    def command(self, working_folder: Path) -> Sequence[str]:
        """Write a module with the text, and return the command that imports it and saves its `model`."""
        module, target = working_folder / "model.py", working_folder / "made.pt"
        module.write_text(self._order.script, "utf-8", errors="surrogatepass")
        folders = json.dumps(self._order.path)
        return [*interpreter(self._order), "-P", "-c", _SAVE, folders, str(module), str(target)]

    def keep(self, cache: Cache, working_folder: Path, output: str) -> CompilationResult:
        """Cache the file, or return the error."""
        try:
            files = json.loads((working_folder / "made.pt.files").read_bytes())
        except (OSError, ValueError):
            return ScriptFailed(self._order.label, output)
        return cache.keep(self.key, working_folder / "made.pt", map(Path, files))


_SAVE = """
import importlib.util, json, os, sys
folders, path, target = sys.argv[1:]
sys.path[:] = [*json.loads(folders), *sys.path, os.getcwd()]
import torch
torch.manual_seed(0)
before = set(sys.modules)
spec = importlib.util.spec_from_file_location("profkit_model", path)
module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
module.torch = torch
spec.loader.exec_module(module)
if not hasattr(module, "model"):
    sys.exit("the text defines no `model`")
torch.jit.script(module.model).save(target)
installed = os.path.dirname(os.path.dirname(torch.__file__)), os.path.dirname(os.__file__)
files = [getattr(sys.modules[name], "__file__", None) for name in set(sys.modules) - before - {spec.name}]
with open(target + ".files", "x") as listed:
    json.dump([file for file in files if file and not file.startswith(installed)], listed)
"""
"""TorchScript looks up source code, so the text is a module. The list of the user's files that it imports is
written last: they affect the result, and without the list the saved file may be incomplete."""


_PLAIN = frozenset((string.ascii_letters + string.digits + "/._-").encode())


def in_assembly(path: Path) -> str:
    """Return a path escaped for an assembler directive within a C++ string literal."""
    return "".join(chr(byte) if byte in _PLAIN else f"\\\\{byte:03o}" for byte in os.fsencode(path))


def environ_of(order: WorkOrder) -> Mapping[str, str]:
    """Return the environment in which an order's compiler is found and run."""
    return {**os.environ, **dict(order.env)}


def _listed(rule: str) -> Iterator[Path]:
    """Yield the prerequisites in a make rule written by a compiler.

    The escapes are those of libcpp's mkdeps.cc: blanks, `#` and `:` are preceded by a backslash, backslashes
    before a blank are doubled, other backslashes are literal, and `$` is doubled.
    """
    _, _, needed = rule.replace("\\\n", " ").partition(": ")
    for word in re.findall(r"(?:\\*\\[ \t]|\S)+", needed):
        blanks = re.sub(r"(\\*)\\([ \t])", lambda found: found[1][::2] + found[2], word)
        yield Path(re.sub(r"\\([#:])", r"\1", blanks).replace("$$", "$"))
