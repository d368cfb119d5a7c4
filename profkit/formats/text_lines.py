"""Lines of text formats, whatever bytes are in them."""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO


def text_lines(data: bytes) -> Iterator[str]:
    """The lines without their ends; line feeds alone end them. What is no UTF-8 comes as lone surrogates."""
    for line in BytesIO(data):
        yield line.rstrip(b"\r\n").decode("utf-8", "surrogateescape")
