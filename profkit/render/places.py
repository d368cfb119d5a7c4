"""Where code lives, as people say it: short paths, and the package that a library's frame belongs to."""

from __future__ import annotations

from profkit.transforms.origin import from_import_root
from profkit.transforms.simplify import is_child_file


def short_path(file: str, cwd: str) -> str:
    """`file` from where imports start, else relative to the program's folder, else whole."""
    from_root = from_import_root(file)
    if from_root != file:
        return from_root
    inside = f"{cwd.rstrip('/')}/"
    return file[len(inside) :] if cwd and file.startswith(inside) else file


def place(file: str, line: int, cwd: str) -> str:
    """`short_path` with the line, where it is known."""
    if is_child_file(file):  # its command is for those who look for details
        return ""
    path = short_path(file, cwd)
    return f"{path}:{line}" if line and path else path


def package_of(file: str) -> str:
    """`torch`, `libc.so.6`, `importlib._bootstrap`, `<string>`, `process`; `?` without a file."""
    if file.startswith("<frozen "):
        return file[len("<frozen ") : -1]
    if is_child_file(file):
        return "process"
    path = short_path(file, "")
    part = path.rsplit("/", 1)[-1] if path.startswith("/") else path.split("/", 1)[0]
    return part.removesuffix(".py") or "?"
