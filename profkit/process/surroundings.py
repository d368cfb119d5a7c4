"""What a manifest says of the process around a session; read without starting any program."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from pathlib import Path

from profkit.model.session import ProcessInfo
from profkit.process.handlers import let_through
from profkit.process.procfs import start_ticks
from profkit.process.seal import key_file, sealed
from profkit.process.secret_values import secret_rule
from profkit.version import VERSION


def process_info() -> ProcessInfo:
    """Describe this process: its command without secrets, its versions, the commit that is checked out."""
    pid, torch = os.getpid(), sys.modules.get("torch")
    cwd = _cwd()
    process = ProcessInfo(
        pid=pid,
        start_ticks=start_ticks(pid) or 0,
        host=os.uname().nodename,
        cwd=str(cwd),
        argv=secret_rule().argv(sys.orig_argv),
        python=sys.version.split()[0],
        torch=str(getattr(torch, "__version__", "")) or None,
        profkit=VERSION,
        git_commit=git_commit(cwd),
    )
    return sealed(process, key_file())


def recorded_variables(names: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """Return the variables of these names that are set, with the values of secrets hidden."""
    return secret_rule().variables((name, os.environ[name]) for name in names if name in os.environ)


def git_commit(folder: Path) -> str | None:
    """The commit that is checked out around `folder`, None outside a git checkout.

    Reads HEAD, loose and packed references as gitrepository-layout(5) describes them.
    """
    for candidate in (folder, *folder.parents):
        git = candidate / ".git"
        try:
            if git.is_file():
                git = candidate / git.read_text("utf-8").removeprefix("gitdir:").strip()
            if git.is_dir():
                return _head(git)
        except (OSError, UnicodeDecodeError) as error:
            let_through(error)
            return None
    return None


def _head(git: Path) -> str | None:
    head = (git / "HEAD").read_text("utf-8").strip()
    if not head.startswith("ref:"):
        return head or None
    name = head.removeprefix("ref:").strip()
    common = git / "commondir"
    shared = git / common.read_text("utf-8").strip() if common.is_file() else git
    for root in (git, shared):
        if (root / name).is_file():
            return (root / name).read_text("utf-8").strip()
    packed = shared / "packed-refs"
    lines = packed.read_text("utf-8").splitlines() if packed.is_file() else []
    return next((line.split(" ")[0] for line in lines if line.endswith(f" {name}")), None)


def _cwd() -> Path:
    try:
        return Path.cwd()
    except FileNotFoundError:  # the folder was removed under the program
        return Path("/")
