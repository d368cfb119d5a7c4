"""A region: one decorated function or one labelled block, the same in every process."""

from __future__ import annotations

import enum
import hashlib
from dataclasses import dataclass

MARKER_PREFIX = "profkit:"

_LABEL_MAX = 80


class RegionKind(enum.Enum):
    """What the user wrapped; the value is the word that files carry."""

    FUNCTION = "function"
    COROUTINE = "coroutine"
    GENERATOR = "generator"
    ASYNC_GENERATOR = "async generator"
    BLOCK = "block"


@dataclass(frozen=True, slots=True)
class RegionKey:
    """What makes two regions the same one."""

    module: str
    qualname: str
    line: int
    label: str


@dataclass(frozen=True, slots=True)
class Region:
    """A region as the spool and the store name it.

    `expected` is the frame (qualified name, file) that must stand directly under the region's
    marker, None where the wrapped object has no code of its own. A block has no marker: its samples
    are those of frame (`qualname`, `file`) at one of the `body` lines. A detached block (its enter
    and exit lie in different frames) has neither: whole segments are its own.
    """

    key: RegionKey
    kind: RegionKind
    file: str
    expected: tuple[str, str] | None = None
    body: tuple[int, ...] = ()
    detached: bool = False
    all_threads: bool = False
    """Keep samples of every thread while the region is active, not of its callers alone."""
    stack_max_len: int = 0
    """Frames to keep at the leaf end; 0 keeps all."""
    tags: tuple[str, ...] = ()
    user: str = ""
    env: tuple[tuple[str, str], ...] = ()

    @property
    def id(self) -> str:
        """Eight hexadecimal digits that are equal in every process that has this region."""
        key = self.key
        text = "\0".join((key.module, key.qualname, str(key.line), key.label))
        return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()

    @property
    def marker(self) -> str:
        """The name that the code object of the region's wrapper bears; samplers read it back."""
        label = self.key.label[:_LABEL_MAX].encode("utf-8", "replace").decode("utf-8")
        return f"{MARKER_PREFIX}{label}#{self.id}"
