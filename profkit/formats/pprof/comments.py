"""Comments of a pprof file with data that the format has no field for: totals, order and starts of samples.

Other readers pass over them, and those that filter a profile may keep them: data that does not match the
samples is ignored. Columns of integers are little-endian, compressed and in base64. They are short: of a
million samples, few are distinct, and most follow the one before.
"""

from __future__ import annotations

import base64
import sys
import zlib
from collections.abc import Iterable
from dataclasses import replace

from profkit.formats.columns import array_of, little_endian
from profkit.formats.limits import Budget
from profkit.formats.turns import Turns, gaps_of, starts_of
from profkit.model.profile import Profile

_TOTALS, _TURNS, _STARTS = "#profkit.totals/1", "#profkit.turns/1 ", "#profkit.starts/1 "
_UINT32, _INT64 = "I", "q"


def _first(comments: Iterable[str], head: str) -> str | None:
    return next((one for one in comments if one.startswith(head)), None)


def _packed(head: str, data: bytes) -> str:
    return f"{head}{base64.b64encode(zlib.compress(data)).decode('ascii')}"


def _unpacked(comment: str, head: str, most: int) -> tuple[bytes, bool]:
    """Return up to `most` bytes of a comment's data, and whether they are all."""
    unpacker = zlib.decompressobj()
    data = unpacker.decompress(base64.b64decode(comment[len(head) :], validate=True), most)
    return data, unpacker.eof


_NOT_STATED = "-"


def states_totals(data: bytes) -> bool:
    """Return whether an uncompressed file has a comment with totals."""
    return f"{_TOTALS} ".encode() in data


def totals_comment(profile: Profile) -> str:
    """Return the comment for a profile that states totals."""
    texts = (_NOT_STATED if total is None else str(total) for total in profile.totals)
    return " ".join((_beginning(profile), *texts))


def with_totals(profile: Profile, comments: Iterable[str]) -> Profile:
    """Return the profile with the totals that a comment states for it; unchanged if none does.

    Raises ValueError for a comment that `totals_comment` does not write.
    """
    comment = _first(comments, _TOTALS)
    if comment is None:
        return profile
    beginning = _beginning(profile)
    texts = comment[len(beginning) :].split()
    if not comment.startswith(f"{beginning} ") or len(texts) != len(profile.frames):
        return profile
    totals = tuple(None if text == _NOT_STATED else int(text) for text in texts)
    if any(total is not None and total < 0 for total in totals):
        raise ValueError("one of its totals is negative")
    return replace(profile, totals=totals)


def _beginning(profile: Profile) -> str:
    frames = "".join(f"{name}\0{file}\0{line}\n" for name, file, line in profile.frames)
    checksum = zlib.crc32(frames.encode("utf-8", "surrogatepass"))
    return f"{_TOTALS} {profile.total_weight} {checksum}"


def starts_comment(profile: Profile) -> str | None:
    """Return the comment for a profile; None if its starts are not known, or need more than 64 bits."""
    gaps = gaps_of(profile)
    return None if gaps is None else _packed(_STARTS, little_endian(gaps))


def with_starts(profile: Profile, comments: Iterable[str]) -> Profile:
    """Return the profile with the starts that a comment has for its samples; unchanged if none has.

    Raises ValueError and zlib.error for a damaged comment.
    """
    comment = _first(comments, _STARTS)
    if comment is None or not profile.ordered:
        return profile
    size = 8 * len(profile.samples)
    data, is_all = _unpacked(comment, _STARTS, size + 1)
    if len(data) != size or not is_all:
        return profile
    starts = tuple(starts_of(profile.samples, array_of(_INT64, data)))
    return profile if min(starts, default=0) < 0 else replace(profile, starts=starts)


_TURN_BYTES = 12


def turns_comment(turns: Turns) -> str:
    """Return the comment for a file with these turns."""
    return _packed(_TURNS, little_endian(turns.numbers) + little_endian(turns.weights))


def turns_in(comments: Iterable[str], budget: Budget) -> Turns | None:
    """Return the turns that a comment has; None if none does.

    Raises ValueError and zlib.error for a damaged comment, and LimitExceeded.
    """
    comment = _first(comments, _TURNS)
    if comment is None:
        return None
    most = min(budget.limits.max_records, sys.maxsize // _TURN_BYTES - 1)
    data, is_all = _unpacked(comment, _TURNS, _TURN_BYTES * (most + 1))
    count, rest = divmod(len(data), _TURN_BYTES)
    budget.count_records(count)
    if rest or not is_all:
        raise ValueError("the order of its samples is cut short")
    return read_turns(data[: 4 * count], data[4 * count :])


def read_turns(numbers: bytes, weights: bytes) -> Turns:
    """Parse two columns, as uint32 and int64; the rest of one that ends within an integer is ignored."""
    return Turns(
        array_of(_UINT32, numbers[: len(numbers) // 4 * 4]),
        array_of(_INT64, weights[: len(weights) // 8 * 8]),
    )
