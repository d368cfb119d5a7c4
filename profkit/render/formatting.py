"""Formatting of numbers, times, shares, places and bars in reports; text with a tone."""

from __future__ import annotations

import enum
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, tzinfo
from decimal import ROUND_HALF_UP, Decimal
from itertools import pairwise
from typing import NamedTuple

from profkit.model.histogram import Histogram
from profkit.transforms.origin import from_import_root, is_child_file
from profkit.units import SECONDS, Unit, format_bytes, format_duration, least_of_unit_s


class Tone(enum.Enum):
    """Meaning of a piece of text; a renderer chooses its style."""

    PLAIN = "plain"
    STRONG = "strong"
    FAINT = "faint"
    WARN = "warn"
    BAD = "bad"
    GOOD = "good"
    ASIDE = "aside"
    """Not of the program, such as the name of a library's call."""


class Part(NamedTuple):
    """A piece of text and its tone."""

    text: str
    tone: Tone = Tone.PLAIN


def count(number: int, noun: str = "") -> str:
    """Format a number with its noun: `1,234 calls`, `1 call`; without one, `1,234`."""
    return f"{number:,} {noun}{'' if number == 1 else _ending(noun)}" if noun else f"{number:,}"


def _ending(noun: str) -> str:
    """Return the ending of a noun's plural."""
    return "es" if noun.endswith(("s", "ch")) else "s"


def percent(share: float, samples: int) -> str:
    """Format a share with as many digits as the samples allow: `43 %`, from 1,000 samples on `43.2 %`."""
    value = share * 100
    digits = 1 if samples >= 1000 else 0
    smallest = 10.0**-digits
    if 0 < value < smallest / 2:
        return f"<{smallest:.{digits}f} %"
    return f"{value:.{digits}f} %"


def rate(hertz: float) -> str:
    """Format a rate with three digits, without trailing zeros: `97.4 Hz`, `100 Hz`."""
    return f"{hertz:.3g} Hz" if hertz < 1000 else f"{hertz:,.0f} Hz"


def moment(unix_ns: int, zone: tzinfo | None = None) -> str:
    """Format date, time and offset, in the local time zone by default."""
    return datetime.fromtimestamp(unix_ns / 1e9, UTC).astimezone(zone).strftime("%Y-%m-%d %H:%M:%S %z")


def iso_moment(unix_ns: int) -> str:
    """Format a moment in UTC for programs: `2026-11-21T11:49:03.250Z`."""
    at = datetime.fromtimestamp(unix_ns // 1_000_000 / 1000, UTC)
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


_UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))


def alike(durations_s: Sequence[float | None]) -> list[str]:
    """Format a column of durations in one unit with the same decimals; `""` for None.

    The longest has three digits: `2.53 s` beside `0.04 s`. Any duration above 0 shows: `<1 s`.
    """
    longest = max((duration_s for duration_s in durations_s if duration_s is not None), default=0.0)
    unit, factor = next(
        ((unit, factor) for unit, factor in (*SECONDS, _SHORTEST) if longest >= least_of_unit_s(factor)),
        _SECOND,
    )
    digits = 2 if longest < 9.995 * factor else 1 if longest < 99.95 * factor else 0
    return ["" if one is None else f"{_visible(one / factor, digits)} {unit}" for one in durations_s]


_SHORTEST, _SECOND = ("ns", 1e-9), ("s", 1.0)


def _visible(value: float, digits: int) -> str:
    smallest = 10.0**-digits
    return f"<{smallest:.{digits}f}" if 0 < value < smallest / 2 else f"{value:,.{digits}f}"


def weight_text(weight: int, unit: Unit) -> str:
    """Format a weight for a column that is headed by its unit."""
    return format_bytes(weight) if unit is Unit.BYTES else count(weight)


def cost_word(unit: Unit) -> str:
    """Return the noun for costs in this unit: time (for samples too), instructions or bytes."""
    return "time" if unit.is_time else unit.value


def amount(weight: int, unit: Unit) -> str:
    """Format a weight with its unit: `1,200 samples`, `3.21 s`, `12.0 MiB`, `4,096 instructions`."""
    if unit is Unit.NANOSECONDS:
        return format_duration(weight / 1e9)
    if unit is Unit.BYTES:
        return format_bytes(weight)
    return count(weight, unit.value.removesuffix("s"))


_EIGHTHS = " ▏▎▍▌▋▊▉█"
_LEVELS = " ▁▂▃▄▅▆▇█"


def bar(part: float, cells: int) -> str:
    """Draw a horizontal bar for a part of 1, exact to an eighth of a cell; any part above 0 shows."""
    eighths = min(cells * 8, max(round(part * cells * 8), 1 if part > 0 else 0))
    return ("█" * (eighths // 8) + _EIGHTHS[eighths % 8]).rstrip()


def columns(histogram: Histogram, cells: int) -> str:
    """Draw the distribution of durations in at most `cells` columns, from the shortest to the longest.

    Durations are on a logarithmic scale, heights on a linear one; any count above 0 shows.
    """
    if not histogram.buckets:
        return ""
    first, last = histogram.buckets[0][0], histogram.buckets[-1][0]
    cells = min(cells, last - first + 1)
    heights: Counter[int] = Counter()
    for bucket, count in histogram.buckets:
        heights[(bucket - first) * cells // (last - first + 1)] += count
    return _standing(heights, cells)


def spread(values: Sequence[float], cells: int) -> str:
    """Draw the distribution of values in `cells` columns; one column if all are equal."""
    least, most = min(values), max(values)
    if least == most:
        return _LEVELS[-1]
    heights = Counter(min(cells - 1, int((value - least) / (most - least) * cells)) for value in values)
    return _standing(heights, cells)


def sparkline(values: Sequence[float], cells: int) -> str:
    """Draw values over time in at most `cells` columns, from 0 to the largest; a column shows a mean.

    Any value above 0 shows.
    """
    cells = min(cells, len(values))
    bounds = [len(values) * cell // cells for cell in range(cells + 1)] if cells else [0]
    means = [sum(values[low:high]) / (high - low) for low, high in pairwise(bounds)]
    most = max(means, default=0.0)
    return "".join(
        _LEVELS[math.ceil(max(0.0, mean) / most * 8)] if most > 0 else _LEVELS[0] for mean in means
    )


def _standing(heights: Counter[int], cells: int) -> str:
    most = max(heights.values())
    return "".join(_LEVELS[-(-heights[cell] * 8 // most)] for cell in range(cells))


def short_path(file: str, cwd: str) -> str:
    """Return a file's path below its import root, else relative to the program's folder, else in full."""
    from_root = from_import_root(file)
    if from_root != file:
        return from_root
    inside = f"{cwd.rstrip('/')}/"
    return file[len(inside) :] if cwd and file.startswith(inside) else file


def place(file: str, line: int, cwd: str) -> str:
    """Format `short_path` with the line, if it is known."""
    if is_child_file(file):  # A child process: its command is too long for a place.
        return ""
    path = short_path(file, cwd)
    return f"{path}:{line}" if line and path else path


_APART = 1e3
"""Ratio of times above which each has its own unit."""
_FINE = 100.0
"""Count from which on no decimal is shown."""


def times_alike(durations_s: Sequence[float | None]) -> list[str]:
    """Format a column of times in one unit, the shortest with four digits; `""` for None.

    If they differ by too large a factor, each has its own unit.
    """
    known = [duration_s for duration_s in durations_s if duration_s]
    shortest, longest = min(known, default=0.0), max(known, default=0.0)
    if longest > shortest * _APART:
        return [
            "" if duration_s is None else _in_unit_of(duration_s, duration_s) for duration_s in durations_s
        ]
    return ["" if duration_s is None else _in_unit_of(shortest, duration_s) for duration_s in durations_s]


def time_text(duration_s: float) -> str:
    """Format one time in its own unit: `1.234 µs`."""
    return _in_unit_of(duration_s, duration_s)


def _in_unit_of(reference_s: float, duration_s: float) -> str:
    if reference_s == 0:
        return "0 s"
    factor, unit = next((pair for pair in _UNITS if reference_s >= pair[0]), _UNITS[-1])
    size = reference_s / factor
    digits = 3 if size < 9.9995 else 2 if size < 99.995 else 1 if size < 999.95 else 0
    return f"{duration_s / factor:,.{digits}f} {unit}"


def counts_alike(values: Sequence[float | None]) -> list[str]:
    """Format a column of counts with the same decimals: one for small fractions, else none; `""` for None."""
    known = [abs(value) for value in values if value]
    whole = all(value == int(value) for value in known)
    digits = 0 if whole or min(known) >= _FINE else 1
    return ["" if value is None else f"{_half_up(value, digits):,.{digits}f}" for value in values]


def _half_up(value: float, digits: int) -> Decimal:
    """Round as the page's scripts do, so that a count has the same digits everywhere."""
    return Decimal(value).quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP)


def count_text(value: float) -> str:
    """Format one count: `5,601`, `8.5`."""
    return counts_alike([value])[0]


def signed(value: float) -> str:
    """Format a difference with its sign: `+1,234`, `−5`, `0`."""
    return signed_alike([value])[0]


def signed_alike(values: Sequence[float]) -> list[str]:
    """Format a column of differences with the same decimals."""
    sizes = counts_alike([abs(value) for value in values])
    signs = ("+" if value > 0 else "−" if value < 0 else "" for value in values)
    return [f"{sign}{size}" for sign, size in zip(signs, sizes, strict=True)]


def change(ratio: float) -> str:
    """Format B relative to A: `+5.3 %`, `−10.0 %`; from twice or half on as a factor: `× 2.41`, `÷ 11.0`."""
    if ratio >= 2:
        return f"× {factor(ratio)}"
    if 0 < ratio <= 0.5:
        return f"÷ {factor(1 / ratio)}"
    part = 100 * (ratio - 1)
    digits = 2 if abs(part) < 0.95 else 1
    sign = "+" if part > 0 else "−" if part < 0 else "±"
    return f"{sign}{abs(part):.{digits}f} %"


def factor(ratio: float) -> str:
    """Format a factor with three digits: `2.41`, `0.0123`, `160,000`."""
    return f"{ratio:.3g}" if ratio < 1000 else f"{float(f'{ratio:.3g}'):,.0f}"


def range_of(numbers: Sequence[int], noun: str) -> str:
    """Format a range of numbers with their noun: `1 process`, `10 processes`, `4–10 processes`."""
    least, most = min(numbers), max(numbers)
    plural = "" if most == 1 else _ending(noun)
    return f"{least:,}{'' if least == most else f'–{most:,}'} {noun}{plural}"


def join_words(words: Sequence[str]) -> str:
    """Return words as a list in a sentence: `a, b and c`."""
    return " and ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))


def number_ranges(numbers: Iterable[int]) -> list[str]:
    """Write a set of numbers as ranges: `0–3`, `7`."""
    ends: list[list[int]] = []
    for number in sorted(set(numbers)):
        if ends and number == ends[-1][1] + 1:
            ends[-1][1] = number
        else:
            ends.append([number, number])
    return [str(first) if first == last else f"{first}–{last}" for first, last in ends]


def switches(number: int) -> str:
    """Format involuntary context switches: `1 involuntary switch`, `9 involuntary switches`."""
    return range_of([number], "involuntary switch")
