"""Process description in a session's manifest, and the seal that authenticates it."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterable, Mapping
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path

from profkit.config import CONFIG
from profkit.model.session import ProcessInfo
from profkit.process.guard import reraise_signal_error, suppressed
from profkit.process.membership import own_member
from profkit.process.procfs import start_ticks
from profkit.process.redaction import secret_rule
from profkit.version import VERSION

_KEY_BYTES = 32
_SEAL_BYTES = 16
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_WRITE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def key_file(environ: Mapping[str, str] = os.environ) -> Path | None:
    """Return the path of the user's key: $XDG_STATE_HOME/profkit/key; None if the user has no home."""
    state = environ.get("XDG_STATE_HOME", "")
    home = environ.get("HOME", "")
    if os.path.isabs(state):
        return Path(state, "profkit", "key")
    return Path(home, ".local", "state", "profkit", "key") if os.path.isabs(home) else None


def sealed(process: ProcessInfo, file: Path | None) -> ProcessInfo:
    """Seal a description, with a new key if there is none; return it unchanged if no key can be made."""
    key = None if file is None else _read_key(file) or _new_key(file)
    return process if key is None else replace(process, seal=_seal(process, key))


def is_sealed_here(process: ProcessInfo, file: Path | None) -> bool:
    """Return whether this user recorded the process on this machine."""
    if not process.seal or file is None or process.host != os.uname().nodename:
        return False
    from hmac import compare_digest  # needed only by reports

    key = _read_key(file)
    return key is not None and compare_digest(
        _seal(process, key).encode(), process.seal.encode("utf-8", "replace")
    )


def _seal(process: ProcessInfo, key: bytes) -> str:
    facts = (process.host, str(process.pid), str(process.start_ticks), process.cwd, *process.argv)
    text = "".join(f"{len(fact)}:{fact}" for fact in facts)
    return blake2b(text.encode("utf-8", "surrogatepass"), key=key, digest_size=_SEAL_BYTES).hexdigest()


def _read_key(file: Path) -> bytes | None:
    """Return the key, if the file belongs to the user and no other user can access it."""
    try:
        descriptor = os.open(file, _READ)
    except OSError as error:
        reraise_signal_error(error)
        return None
    try:
        status = os.fstat(descriptor)
        private = (
            stat.S_ISREG(status.st_mode) and not status.st_mode & 0o077 and status.st_uid == os.geteuid()
        )
        key = os.read(descriptor, _KEY_BYTES + 1) if private else b""
    finally:
        os.close(descriptor)
    return key if len(key) == _KEY_BYTES else None


def _new_key(file: Path) -> bytes | None:
    """Create a key file atomically; return None if that is impossible, as in a read-only home."""
    unfinished = file.with_name(f".key-{os.getpid()}-{os.urandom(4).hex()}")
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(unfinished, _WRITE, 0o600)
        try:
            os.write(descriptor, os.urandom(_KEY_BYTES))
            os.link(unfinished, file)
        finally:
            os.close(descriptor)
            os.unlink(unfinished)
    except FileExistsError:  # another process was faster, or the file is not a key
        return _read_key(file)
    except OSError as error:
        reraise_signal_error(error)
        return None
    return _read_key(file)


def process_info() -> ProcessInfo:
    """Describe this process: its command without secrets, its versions, the checked-out commit."""
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
        launch=CONFIG.launch,
        member=own_member(),
    )
    return sealed(process, key_file())


def recorded_variables(names: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """Return those of the named variables that are set, with secret values hidden."""
    return secret_rule().variables((name, os.environ[name]) for name in names if name in os.environ)


def git_commit(folder: Path) -> str | None:
    """Return the commit that is checked out around `folder`, None outside a git checkout.

    Reads HEAD, loose and packed references (gitrepository-layout(5)).
    """
    with suppressed(OSError, UnicodeDecodeError):
        for candidate in (folder, *folder.parents):
            git = candidate / ".git"
            if git.is_file():
                git = candidate / git.read_text("utf-8").removeprefix("gitdir:").strip()
            if git.is_dir():
                return _head(git)
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
    except FileNotFoundError:  # the folder was removed while the program ran
        return Path("/")
