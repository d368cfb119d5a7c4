"""Packs: a finished session as one file, `SPOOL/SESSION.packed`, to send it to another spool.

A pack is a line of JSON (`Contents` with `"schema": "profkit.packed-session/2"`), then the bytes of the files
that it names, in that order, compressed by zlib. Its name appears when all of it is on the disk. A pack whose
sender was lost ends early; what it has is a session still, and its runs say so.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain
from typing import BinaryIO

from profkit.errors import DamagedFile
from profkit.model.notes import Note, NoteCode
from profkit.model.session import Manifest, SessionState
from profkit.store.clearing import give_to_owner
from profkit.store.files import OwnedFolder
from profkit.store.records import LARGEST_BYTES, document_bytes, parse_document
from profkit.store.spool import (
    LARGEST_MANIFEST_BYTES,
    MANIFEST,
    OWN_FILES,
    PACKED,
    is_sampler_file,
    read_manifest_in,
)
from profkit.store.spool import SCHEMA as MANIFEST_SCHEMA
from profkit.store.spool_files import is_trace_file

SCHEMA = "profkit.packed-session/2"
_SCHEMA_1 = "profkit.packed-session/1"
"""The files are not compressed."""
ARRIVING = ".arriving"
"""End of the hidden name under which a file or folder is written."""

LARGEST_SESSION_BYTES = 4 * LARGEST_BYTES
"""Maximum size of a session's files together: a small pack could otherwise fill the disk of its reader."""
_LONGEST_HEAD = 4 * 2**20
_CHUNK = 2**20
_LEVEL = 4
"""zlib's level. For recordings, level 6 takes twice the time and saves 6 to 17 %."""


@dataclass(frozen=True, slots=True)
class PackedFile:
    """One file of a session."""

    name: str
    size_bytes: int
    changed_ns: int
    """Time of its last change, which is the end of the last segment of a killed process."""


@dataclass(frozen=True, slots=True)
class Contents:
    """First line of a pack."""

    host: str
    """Host of the profiled process; empty if it is not known."""
    files: tuple[PackedFile, ...]


@dataclass(frozen=True, slots=True)
class Pack:
    """A pack to be written."""

    name: str
    chunks: Iterator[bytes]
    """The content, which can be read once while the folder is open; raises DamagedFile."""


def is_session_file(name: str) -> bool:
    """Return whether this can be the name of a file of a session."""
    is_known = name in OWN_FILES or is_sampler_file(name) or is_trace_file(name)
    return is_known and "/" not in name and "\0" not in name


def pack_names(spool: OwnedFolder) -> tuple[str, ...]:
    """Return the names of the packs in an open spool, oldest first."""
    return tuple(name for name in spool.names() if name.endswith(PACKED) and name[0] != ".")


def ended(manifest: Manifest, folder: OwnedFolder) -> Manifest:
    """Return the manifest of a session whose process has ended, for readers that cannot look for it."""
    if manifest.ended_ns is not None:
        return manifest
    return replace(manifest, state=SessionState.ENDED_EARLY, ended_ns=folder.changed_ns())


def pack(folder: OwnedFolder) -> Pack:
    """Return the pack of an open folder, whose session has ended; raises DamagedFile and RefusedFile.

    The journals come first: samples without them would be those of unknown regions.
    """
    host, head = _manifest(folder)
    names = filter(is_session_file, folder.names())
    others = sorted(
        (name for name in names if name != MANIFEST), key=lambda name: (name not in OWN_FILES, name)
    )
    files = [_packed(folder, name) for name in others]
    if head is not None:
        files.insert(0, replace(_packed(folder, MANIFEST), size_bytes=len(head)))
    if excess := _excess(files):
        raise DamagedFile(folder.path, excess)
    line = document_bytes(SCHEMA, Contents(host, tuple(files))) + b"\n"
    contents = (_content(folder, file) for file in files if file.name != MANIFEST)
    return Pack(folder.path.name + PACKED, chain([line], _compressed(chain([head or b""], *contents))))


def _excess(files: Iterable[PackedFile]) -> str:
    """Return what is wrong with the size of files together; empty if it is within the limit."""
    size = sum(one.size_bytes for one in files)
    if size <= LARGEST_SESSION_BYTES:
        return ""
    return f"its files have {size} bytes, more than the limit of {LARGEST_SESSION_BYTES}"


def _compressed(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield each chunk compressed, so that it can be read though the next is missing; then the end."""
    compressor = zlib.compressobj(_LEVEL)
    for chunk in chunks:
        yield compressor.compress(chunk) + compressor.flush(zlib.Z_SYNC_FLUSH)
    yield compressor.flush()


def _manifest(folder: OwnedFolder) -> tuple[str, bytes | None]:
    """Return the session's host, and the manifest to send: as it is if it cannot be read, None if missing."""
    if folder.status(MANIFEST) is None:
        return "", None
    try:
        manifest = read_manifest_in(folder)
    except DamagedFile:
        return "", folder.read(MANIFEST, LARGEST_MANIFEST_BYTES)
    return manifest.process.host, _bytes(ended(manifest, folder))


def _bytes(manifest: Manifest) -> bytes:
    return document_bytes(MANIFEST_SCHEMA, manifest, indent=1)


def _packed(folder: OwnedFolder, name: str) -> PackedFile:
    if (refusal := folder.refusal(name)) is not None:
        raise refusal
    status = folder.status(name)
    if status is None:
        raise DamagedFile(folder.path / name, "it is missing")
    if status.st_size > LARGEST_BYTES:
        raise DamagedFile(folder.path / name, f"it is larger than the limit of {LARGEST_BYTES} bytes")
    return PackedFile(name, status.st_size, status.st_mtime_ns)


def _content(folder: OwnedFolder, file: PackedFile) -> Iterator[bytes]:
    left = file.size_bytes
    for chunk in folder.chunks(file.name, LARGEST_BYTES):
        left -= len(chunk)
        yield chunk
    if left:
        raise DamagedFile(folder.path / file.name, "it changed while it was sent")


def write_file(folder: OwnedFolder, name: str, chunks: Iterable[bytes]) -> None:
    """Write a file that is there as a whole or not at all, also after a power loss.

    What a killed writer has left is overwritten. Raises OSError, and leaves nothing behind then.
    """
    hidden = f".{name}{ARRIVING}"
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
    try:
        with open(os.open(hidden, flags, 0o600, dir_fd=folder.descriptor), "wb") as file:
            file.writelines(chunks)
            file.flush()
            os.fsync(file.fileno())
        os.replace(hidden, name, src_dir_fd=folder.descriptor, dst_dir_fd=folder.descriptor)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(hidden, dir_fd=folder.descriptor)
        raise
    os.fsync(folder.descriptor)


class Source:
    """Bytes of a pack's files, from behind its first line to its end, or to where it is damaged."""

    def __init__(self, file: BinaryIO, *, is_compressed: bool) -> None:
        self._file = file
        self._inflate = zlib.decompressobj() if is_compressed else None

    def read(self, size: int) -> bytes:
        """Return the next bytes, at most `size`; none at the end."""
        if self._inflate is None or not size:
            return self._file.read(size)
        found, data = b"", b"more"
        while data and not found and not self._inflate.eof:
            data = self._inflate.unconsumed_tail or self._file.read(_CHUNK)
            try:
                found = self._inflate.decompress(data, size)
            except zlib.error:
                return b""
        return found

    def ends_early(self) -> bool:
        """Return whether the pack lacks its end, after all files were read."""
        return self._inflate is not None and not self.read(1) and not self._inflate.eof


def read_contents(file: BinaryIO) -> tuple[Contents, Source]:
    """Return the contents of a pack, and the source of its files; raises ValueError."""
    line = file.readline(_LONGEST_HEAD)
    if not line.endswith(b"\n"):
        raise ValueError("its first line has no end")
    is_compressed = not line.startswith(f'{{"schema": "{_SCHEMA_1}"'.encode())
    contents = parse_document(line, SCHEMA if is_compressed else _SCHEMA_1, Contents)
    names = [one.name for one in contents.files]
    if not all(map(is_session_file, names)) or len(set(names)) < len(names):
        raise ValueError("it names files that no session has")
    if any(not 0 <= one.size_bytes <= LARGEST_BYTES for one in contents.files):
        raise ValueError(f"it has a file of more than {LARGEST_BYTES} bytes")
    if excess := _excess(contents.files):
        raise ValueError(excess)
    return contents, Source(file, is_compressed=is_compressed)


def unpack(spool: OwnedFolder, name: str) -> str:
    """Replace a pack by the folder of its session, and return the session; the spool's lock must be held.

    Raises DamagedFile for a file that is no pack, and OSError: FileExistsError if the session has a folder.
    """
    session = name.removesuffix(PACKED)
    if spool.status(session) is not None:
        raise FileExistsError(session)
    with spool.open(name) as file:
        try:
            contents, source = read_contents(file)
        except (ValueError, RecursionError) as error:
            raise DamagedFile(spool.path / name, str(error)) from error
        _unpack(spool, session, contents, source)
    os.unlink(name, dir_fd=spool.descriptor)
    return session


def _unpack(spool: OwnedFolder, session: str, contents: Contents, source: Source) -> None:
    hidden = f".{session}{ARRIVING}"
    with suppress(FileExistsError):
        os.mkdir(hidden, 0o700, dir_fd=spool.descriptor)
        give_to_owner(spool, hidden)
    with spool.folder(hidden) as folder:
        folder.empty()  # of a reader that was killed
        if not all(_extract(folder, one, source) for one in contents.files) or source.ends_early():
            _name_as_partial(folder, session + PACKED)
        os.fsync(folder.descriptor)
    os.rename(hidden, session, src_dir_fd=spool.descriptor, dst_dir_fd=spool.descriptor)


def _extract(folder: OwnedFolder, packed: PackedFile, source: Source) -> bool:
    """Write one file of a pack, and return whether the pack has all of it; one that it lacks is not made."""
    left = packed.size_bytes
    chunk = source.read(min(left, _CHUNK))
    if left and not chunk:
        return False
    with _new_file(folder, packed.name) as file:
        while chunk:
            file.write(chunk)
            left -= len(chunk)
            chunk = source.read(min(left, _CHUNK))
        file.flush()
        os.utime(file.fileno(), ns=(packed.changed_ns, packed.changed_ns))
    return not left


def _new_file(folder: OwnedFolder, name: str) -> BinaryIO:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
    descriptor = os.open(name, flags, 0o600, dir_fd=folder.descriptor)
    if folder.owner != os.geteuid():  # for a collector
        os.fchown(descriptor, folder.owner, -1)
    return open(descriptor, "wb")


def _name_as_partial(folder: OwnedFolder, name: str) -> None:
    """Add a note to the session's manifest that its pack ended early."""
    with suppress(DamagedFile):
        manifest, status = read_manifest_in(folder), folder.status(MANIFEST)
        note = Note.of(NoteCode.FILE_UNREADABLE, file=name)
        os.unlink(MANIFEST, dir_fd=folder.descriptor)
        with _new_file(folder, MANIFEST) as file:
            file.write(_bytes(replace(manifest, notes=(*manifest.notes, note))))
            file.flush()
            if status is not None:
                os.utime(file.fileno(), ns=(status.st_mtime_ns, status.st_mtime_ns))
