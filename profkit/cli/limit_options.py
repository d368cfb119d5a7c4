"""Options for the limits of an import."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeVar

import click

from profkit.formats.limits import ImportLimits

_Command = TypeVar("_Command", bound=Callable[..., object])

_SUFFIXES = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
_AMOUNT = re.compile(r"(\d{1,15})([KMGT]?)", re.IGNORECASE)
_DEFAULTS = ImportLimits()


def _amount(text: str) -> int:
    """Read a positive whole number, with K, M, G or T for powers of 1024."""
    match = _AMOUNT.fullmatch(str(text))
    amount = int(match[1]) * _SUFFIXES[match[2].upper()] if match else 0
    if not amount:
        raise click.BadParameter(f"{text!r} is not a positive whole number such as 5000 or 2G")
    return amount


def _seconds(text: str) -> float:
    """Read a time above zero; infinity for no limit."""
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not seconds > 0:
        raise click.BadParameter(f"{text!r} is not a time above zero")
    return seconds


def limit_options(command: _Command) -> _Command:
    """Add the options, whose values `limits_of` takes."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def limits_of(
    max_bytes: int, max_depth: int, max_records: int, max_frames: int, max_seconds: float
) -> ImportLimits:
    """Return the limits that the options set."""
    return ImportLimits(max_bytes, max_depth, max_records, max_frames, max_seconds)


_OPTIONS = (
    click.option(
        "--max-bytes",
        type=_amount,
        default=_DEFAULTS.max_bytes,
        metavar="SIZE",
        help="Size limit per file after decompression; K, M, G and T are units.  [default: 1G]",
    ),
    click.option(
        "--max-depth",
        type=_amount,
        default=_DEFAULTS.max_depth,
        metavar="N",
        help=f"Limit on the frames of one stack.  [default: {_DEFAULTS.max_depth}]",
    ),
    click.option(
        "--max-records",
        type=_amount,
        default=_DEFAULTS.max_records,
        metavar="N",
        help="Limit on samples, events, functions and JSON objects together.  "
        f"[default: {_DEFAULTS.max_records}]",
    ),
    click.option(
        "--max-frames",
        type=_amount,
        default=_DEFAULTS.max_frames,
        metavar="N",
        help="Limit on the frames of all distinct stacks, 8 bytes of memory each.  "
        f"[default: {_DEFAULTS.max_frames}]",
    ),
    click.option(
        "--max-seconds",
        type=_seconds,
        default=_DEFAULTS.max_seconds,
        metavar="S",
        help=f"Time limit for reading one file, in seconds.  [default: {_DEFAULTS.max_seconds:g}]",
    ),
)
