"""Damaged files of several ranks: they are read together, or refused with an error that names the file."""

from __future__ import annotations

import json
import pickle
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from profkit.errors import DamagedFile, UsageError
from tests.support.documents import DELETED, replaced
from tests.support.files_of_ranks import READERS, examples, joined, separated
from tests.support.folders import REGRESSIONS
from tests.unit.formats.test_damaged import EDITS, JSON_VALUES, PATIENCE_S, edited, places

EXAMPLES = {kind: list(examples(kind)) for kind in READERS}
PICKLED = [pickle.loads(one) for one in separated(EXAMPLES["flight-recorder"][-1])]
WRITERS: dict[str, Callable[[object], bytes]] = {
    "json": lambda one: json.dumps(one).encode(),
    "pickle": lambda one: pickle.dumps(one, 2),
}


def are_read_or_refused(kind: str, data: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        try:
            READERS[kind](data, Path(folder))
        except (DamagedFile, UsageError):
            return


@pytest.mark.parametrize("kind", READERS)
def test_whole_files_are_read(kind: str, tmp_path: Path) -> None:
    for data in EXAMPLES[kind]:
        READERS[kind](data, tmp_path)


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(sorted(READERS)), st.integers(0, 2), EDITS)
def test_damaged_files(kind: str, number: int, edits: list[tuple[float, int, bytes]]) -> None:
    chosen = EXAMPLES[kind]
    are_read_or_refused(kind, edited(chosen[number % len(chosen)], edits))


@settings(max_examples=150, deadline=None)
@given(st.data(), st.integers(0, 1), st.integers(1, 3))
def test_traces_with_other_values(data: st.DataObject, number: int, times: int) -> None:
    documents: list[object] = [json.loads(one) for one in separated(EXAMPLES["rank-traces"][number])]
    for _ in range(times):
        documents = with_another_value(documents, data, JSON_VALUES)
    are_read_or_refused("rank-traces", joined([json.dumps(one).encode() for one in documents]))


@settings(max_examples=300, deadline=None)
@given(st.data(), st.sampled_from(sorted(WRITERS)), st.integers(1, 3))
def test_dumps_with_other_values(data: st.DataObject, writer: str, times: int) -> None:
    documents: list[object] = list(PICKLED)
    for _ in range(times):
        values = JSON_VALUES | st.sampled_from([10**5000, -(10**5000), (1, 2), "[0, 9999999]"])
        documents = with_another_value(documents, data, values)
    try:
        written = [WRITERS[writer](one) for one in documents]
    except ValueError:  # JSON has no numbers of so many digits
        return
    are_read_or_refused("flight-recorder", joined(written))


def with_another_value(
    documents: object, data: st.DataObject, values: st.SearchStrategy[object]
) -> list[object]:
    """The documents with another value at one place in one of them, or without what was there."""
    path = data.draw(st.sampled_from([path for path in places(documents) if len(path) > 1]))
    changed = replaced(documents, path, data.draw(values | st.just(DELETED)))
    assert isinstance(changed, list)
    return changed


@pytest.mark.parametrize(
    "path",
    [path for kind in READERS for path in sorted((REGRESSIONS / kind).glob("*"))],
    ids=lambda path: f"{path.parent.name}-{path.name}",
)
def test_what_broke_a_reader_once_is_read_or_refused(path: Path) -> None:
    start = time.process_time()
    are_read_or_refused(path.parent.name, path.read_bytes())
    assert time.process_time() - start < PATIENCE_S
