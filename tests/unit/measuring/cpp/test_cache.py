"""The folder of compiled statements: what is not whole is not there, what is old goes."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from profkit.errors import UsageError
from profkit.measuring.cpp.cache import Cache, default_folder, open_cache, unlock

HOUR = 3600.0


def keep(cache: Cache, key: str, content: bytes, headers: tuple[Path, ...] = ()) -> Path:
    made = cache.working_folder() / "made.so"
    made.write_bytes(content)
    return cache.keep(key, made, headers)


def keep_header(cache: Cache, key: str) -> Path:
    made = cache.working_folder() / "made"
    made.mkdir()
    (made / "header.h").write_text("#include <x>\n")
    (made / "header.h.gch").write_bytes(b"precompiled")
    return cache.keep_header(key, made)


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    return open_cache(tmp_path / "cpp")


@contextmanager
def locked(cache: Cache, key: str) -> Iterator[int]:
    lock = cache.lock(key)
    assert lock is not None
    yield lock
    unlock(lock)


def test_files_of_several_kinds_are_kept(cache: Cache):
    made = cache.working_folder() / "made.pt"
    made.write_bytes(b"TorchScript")
    kept = cache.keep("k", made, ())
    assert kept.suffix == ".pt"
    assert cache.find("k", ".pt") == kept
    assert cache.find("k") is None


def test_what_was_kept_is_found(cache: Cache):
    assert cache.find("k") is None
    kept = keep(cache, "k", b"object")
    assert cache.find("k") == kept
    assert kept.read_bytes() == b"object"
    assert cache.find("other") is None
    assert cache.folder.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    "damage", ["truncated", "changed", "gone", "entry truncated", "entry of another kind"]
)
def test_what_is_damaged_is_not_there(cache: Cache, damage: str):
    kept = keep(cache, "k", b"object")
    entry = cache.folder / "k.json"
    {
        "truncated": lambda: kept.write_bytes(b"obj"),
        "changed": lambda: kept.write_bytes(b"objekt"),
        "gone": kept.unlink,
        "entry truncated": lambda: entry.write_bytes(entry.read_bytes()[:-3]),
        "entry of another kind": lambda: entry.write_text("[1]"),
    }[damage]()
    assert cache.find("k") is None
    again = keep(cache, "k", b"object")
    assert cache.find("k") == again
    assert again.read_bytes() == b"object"


def test_a_changed_header_of_the_users_makes_an_object_stale(cache: Cache, tmp_path: Path):
    header = tmp_path / "mine.h"
    header.write_text("int x;")
    kept = keep(cache, "k", b"object", (header,))
    assert cache.find("k") == kept
    header.write_text("int y;")
    assert cache.find("k") is None
    header.unlink()
    assert cache.find("k") is None


def test_truncated_precompiled_headers_are_made_again(cache: Cache):
    assert cache.find_header("k") is None
    header = keep_header(cache, "k")
    assert cache.find_header("k") == header
    os.truncate(header.with_name("header.h.gch"), 3)
    assert cache.find_header("k") is None
    assert keep_header(cache, "k") == header
    assert cache.find_header("k") == header


def test_of_two_that_make_the_same_headers_the_first_stays(cache: Cache):
    assert keep_header(cache, "k") == keep_header(cache, "k") == cache.find_header("k")


def test_a_lock_has_one_holder_and_ends_though_a_fork_has_a_copy_of_it(cache: Cache):
    with locked(cache, "k") as lock:
        copy = os.dup(lock)
        assert cache.lock("k") is None
        with locked(cache, "other"):
            pass
    with locked(cache, "k"):
        os.close(copy)


def test_what_was_used_longest_ago_goes_first(tmp_path: Path):
    now = 1_000_000.0
    cache = Cache(tmp_path, limit_bytes=100_000, now=lambda: now)
    old, used, new = (keep(cache, name, name.encode() * 30_000) for name in ("a", "b", "c"))
    for path in tmp_path.iterdir():
        os.utime(path, (now, now))
    now += 2 * HOUR
    assert cache.find("b") == used
    os.utime(new, (now - 1.5 * HOUR,) * 2)
    Cache(tmp_path, limit_bytes=70_000, now=lambda: now).shrink()
    assert not old.exists()
    assert new.exists()
    Cache(tmp_path, limit_bytes=1, now=lambda: now).shrink()
    assert not new.exists()
    assert cache.find("b") == used


def test_what_was_left_unfinished_goes_after_an_hour(tmp_path: Path):
    now = 1_000_000.0
    cache = Cache(tmp_path, now=lambda: now)
    place = cache.working_folder()
    (place / "half").write_text("x")
    os.utime(place, (now, now))
    cache.shrink()
    assert place.exists()
    now += 2 * HOUR
    cache.shrink()
    assert not place.exists()


def test_a_folder_that_others_can_write_to_is_refused(tmp_path: Path):
    tmp_path.chmod(0o777)
    with pytest.raises(UsageError, match="writable by other users"):
        open_cache(tmp_path)


def test_a_folder_that_cannot_be_made_is_an_error_with_a_fix(tmp_path: Path):
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="XDG_CACHE_HOME"):
        open_cache(tmp_path / "file" / "cpp")


def test_where_it_lies():
    assert default_folder({"XDG_CACHE_HOME": "/somewhere"}) == Path("/somewhere/profkit/cpp")
    for environ in ({}, {"XDG_CACHE_HOME": ""}, {"XDG_CACHE_HOME": "relative"}):
        assert default_folder(environ) == Path.home() / ".cache/profkit/cpp"


def test_a_user_without_a_home_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", unknown)
    with pytest.raises(UsageError, match="no home folder for compiled statements; set XDG_CACHE_HOME"):
        default_folder({})
    assert default_folder({"XDG_CACHE_HOME": "/somewhere"}) == Path("/somewhere/profkit/cpp")
