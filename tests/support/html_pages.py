"""Pages read back: their elements by Python's own parser, their columns as a browser unpacks them."""

from __future__ import annotations

import base64
import json
import zlib
from array import array
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html.parser import HTMLParser
from itertools import pairwise
from typing import Any

CODES = {"u8": "B", "u16": "H", "u32": "I", "f64": "d"}


@dataclass
class Element:
    name: str
    attributes: dict[str, str | None]
    text: str = ""


class _Elements(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[Element] = []
        self._open: Element | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._open = Element(tag, dict(attrs))
        self.found.append(self._open)

    def handle_data(self, data: str) -> None:
        if self._open is not None:
            self._open.text += data

    def handle_endtag(self, tag: str) -> None:
        self._open = None


@dataclass
class HtmlPage:
    """A page's elements, its head and its unpacked columns."""

    elements: list[Element]
    head: dict[str, Any] = field(default_factory=dict)
    data: bytes = b""

    def named(self, name: str) -> list[Element]:
        return [element for element in self.elements if element.name == name]

    def code(self) -> list[Element]:
        """Scripts that a browser runs."""
        return [element for element in self.named("script") if "type" not in element.attributes]

    def column(self, name: str) -> list[Any]:
        place = self.head["columns"][name]
        numbers = array(CODES[place["kind"]])
        assert place["offset"] % 8 == 0
        numbers.frombytes(self.data[place["offset"] :][: place["count"] * numbers.itemsize])
        return numbers.tolist()


def read_page(text: str) -> HtmlPage:
    parser = _Elements()
    parser.feed(text)
    parser.close()
    page = HtmlPage(parser.found)
    head, columns = (element for element in page.named("script") if "type" in element.attributes)
    assert (head.attributes["id"], columns.attributes["id"]) == ("profkit-head", "profkit-columns")
    page.head, page.data = json.loads(head.text), zlib.decompress(base64.b64decode(columns.text))
    return page


Blocks = Sequence[Mapping[str, Any]]
"""Blocks of a document in the head of a page."""


def blocks_of(found: Blocks, name: str) -> list[Mapping[str, Any]]:
    """The blocks of one name, also of nested documents."""
    inner = [one for block in found for one in blocks_of(block.get("blocks", ()), name)]
    return [block for block in found if block["is"] == name] + inner


def facts_of(found: Blocks) -> list[tuple[str, str]]:
    """All facts as their name and their text."""
    rows = [row for block in blocks_of(found, "facts") for row in block["rows"]]
    return [(name, " · ".join(text for text, _ in parts)) for name, parts in rows]


def rows_of(table: Mapping[str, Any]) -> list[dict[str, str]]:
    """The rows of a table: the texts of their cells by column."""
    columns = [(column["head"], column["texts"]) for column in table["columns"]]
    texts = zip(*(texts for _, texts in columns), strict=True)
    return [dict(zip((head for head, _ in columns), row, strict=True)) for row in texts]


Stack = tuple[tuple[str, str], ...]
"""Names and files as the page has them."""


def stacks_of(page: HtmlPage, run: int = 0) -> list[Stack]:
    functions = page.head["functions"]
    names = list(zip(functions["name"], functions["file"], strict=True))
    frames = iter(page.column(f"r{run}.frames"))
    stacks: list[tuple[int, ...]] = []
    for shared, length in zip(page.column(f"r{run}.shared"), page.column(f"r{run}.length"), strict=True):
        start = stacks[-1][:shared] if stacks else ()
        stacks.append((*start, *(next(frames) for _ in range(length - shared))))
    assert next(frames, None) is None
    assert stacks == sorted(set(stacks))
    return [tuple(names[number] for number in stack) for stack in stacks]


def weights_of(page: HtmlPage, run: int = 0) -> Counter[tuple[Stack, int]]:
    """Weight by stack and thread."""
    stacks = stacks_of(page, run)
    pairs = [page.column(f"r{run}.pair.{name}") for name in ("stack", "thread", "weight")]
    assert pairs[0] == sorted(pairs[0])
    return Counter({(stacks[stack], thread): weight for stack, thread, weight in zip(*pairs, strict=True)})


def order_of(page: HtmlPage, run: int = 0) -> list[list[tuple[Stack, int]]]:
    """The samples of each thread, in the order in which they were taken."""
    stacks = stacks_of(page, run)
    places, weights = page.column(f"r{run}.order.stack"), page.column(f"r{run}.order.weight")
    samples = [(stacks[place], weight) for place, weight in zip(places, weights, strict=True)]
    return [samples[start:end] for start, end in pairwise(page.column(f"r{run}.order.start"))]
