"""`profkit report`: which run is shown, with which options, and what damage and absence lead to."""

from __future__ import annotations

from pathlib import Path

import pytest

from profkit.config import Config
from profkit.ingest.read import run_id
from profkit.model.run import Run
from profkit.units import short_id
from tests.support.cli_runs import Profkit, finished_session, keep, live_session
from tests.support.example_runs import STARTED_NS, labelled, made_run
from tests.support.example_sessions import F

OLD, NEW = labelled("aaaa000000", "train", 60), labelled("aaab000000", "train")
OTHER = labelled("bbbb000000", "other", 30)


@pytest.fixture
def three(config: Config) -> None:
    keep(config, OLD, NEW, OTHER)


@pytest.mark.usefixtures("three")
@pytest.mark.parametrize(
    ("wanted", "shown"),
    [
        ((), NEW),
        (("train",), NEW),
        (("other",), OTHER),
        (("bb",), OTHER),
        (("aaaa000000",), OLD),
        (("aaaa",), OLD),
    ],
)
def test_which_run_is_shown(profkit: Profkit, wanted: tuple[str, ...], shown: Run) -> None:
    said = profkit("report", *wanted)
    assert (said.code, said.err) == (0, "")
    assert said.out.split("\n")[0].endswith(f"run {shown.info.id}")


@pytest.mark.usefixtures("three")
def test_json_is_one_document_with_a_schema(profkit: Profkit) -> None:
    for option in (("--json",), ("--format", "json")):
        document = profkit("report", "train", *option).json()
        assert document["schema"] == "profkit.report/1"
        assert {"run", "tree", "functions"} <= document.keys()


@pytest.mark.usefixtures("three")
def test_options_reach_the_report(profkit: Profkit) -> None:
    def names(*options: str) -> list[str]:
        document = profkit("report", "--json", *options).json()
        assert isinstance(document["functions"], list)
        return [row["name"] for row in document["functions"]]

    assert names("--limit", "1") == ["jitter.<locals>.pixel"]
    assert names("--limit", "1", "--sort", "total") == ["train_step"]
    assert names("--limit", "2", "--sort", "name")[0] == "Linear.forward"
    assert names("--thread", "loader-0") == ["load_batch", "train_step"]

    def tree(*options: str) -> str:
        return profkit("report", *options).out.split("Call tree")[1].split("Hottest")[0]

    assert "[torch]" in tree()
    assert "[torch]" not in tree("--show-all")
    assert "collate" in tree()
    assert "collate" not in tree("--min-share", "5")


@pytest.mark.usefixtures("three")
@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("report", "nope"), 6, "no run matches 'nope'; the latest labels are train, other"),
        (
            ("report", "aa"),
            2,
            "ids that begin with 'aa': aaab000000 (train), aaaa000000 (train)",
        ),
        (("report", "--thread", "nope"), 2, "the run has samples of: MainThread (4242), loader-0 (4250)"),
        (("report", "--limit", "0"), 2, "0 is not in the range"),
        (("report", "--sort", "heat"), 2, "'heat' is not one of"),
        (("report", "one", "two"), 2, "unexpected extra argument"),
    ],
)
def test_wrong_use(profkit: Profkit, arguments: tuple[str, ...], code: int, words: str) -> None:
    said = profkit(*arguments)
    assert (said.code, said.out) == (code, "")
    assert words in said.err


@pytest.mark.parametrize("command", ["report", "list", "gc"])
def test_where_nothing_was_recorded_nothing_is_made(profkit: Profkit, tmp_path: Path, command: str) -> None:
    said = profkit(command)
    assert (said.code, said.out) == (6, "")
    assert "profile a program first, by `profkit run app.py` or with @profkit.profile() in it" in said.err
    assert list(tmp_path.iterdir()) == []


def test_an_empty_store_is_reported_as_well(profkit: Profkit, config: Config) -> None:
    keep(config)
    assert (profkit("report").code, profkit("report", "x").code, profkit("list").code) == (6, 6, 6)


def test_a_finished_session_is_ingested_first(profkit: Profkit, config: Config) -> None:
    folder = finished_session(config, "s-1")
    assert "run " + short_id(run_id("s-1", F.id)) in profkit("report", "f").out
    assert not folder.exists()
    assert profkit("report", "f").code == 0


def test_a_session_that_is_recording_is_shown_and_left_alone(profkit: Profkit, config: Config) -> None:
    keep(config, labelled("cccc000000", "f", age_s=-10))
    folder = live_session(config, "s-live", started_ns=STARTED_NS + 20 * 10**9)
    live_id = run_id("s-live", F.id)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    for wanted in ((), ("f",), (live_id[:6],)):
        said = profkit("report", *wanted)
        assert said.code == 0
        assert f"run {short_id(live_id)}" in said.out
        assert "still recording" in said.out
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    assert "run cccc000000" in profkit("report", "cccc").out
    assert profkit("list", "--json").out.count('"state": "RUNNING"') == 1


def test_a_newer_kept_run_comes_before_a_recording_one(profkit: Profkit, config: Config) -> None:
    keep(config, labelled("cccc000000", "f", age_s=-60))
    live_session(config, "s-live", started_ns=STARTED_NS)
    assert "run cccc000000" in profkit("report", "f").out


def test_damage_elsewhere_is_a_warning(profkit: Profkit, config: Config) -> None:
    finished_session(config, "s-1")
    damaged = finished_session(config, "s-2") / "segment-000.speedscope.json"
    damaged.write_text("{")
    said = profkit("report", run_id("s-1", F.id))
    assert said.code == 0
    assert "run " in said.out
    assert said.err.startswith(f"profkit: warning: {damaged} cannot be read: ")
    assert "it was moved to" in said.err
    assert (config.spool / "damaged" / "s-2" / "segment-000.speedscope.json").read_text() == "{"


def test_damage_of_the_very_run_is_an_error_after_its_report(profkit: Profkit, config: Config) -> None:
    (finished_session(config, "s-1") / "segment-000.speedscope.json").write_text("{")
    said = profkit("report")
    assert said.code == 7
    assert "calls  1 · 7.00 ns wall time" in said.out
    assert said.err.count("segment-000.speedscope.json cannot be read") == 1
    again = profkit("report")
    assert (again.code, again.err) == (0, "")
    assert "cannot be read; its content is missing" in again.out


def test_damage_that_may_be_what_was_requested(profkit: Profkit, config: Config) -> None:
    (finished_session(config, "s-1") / "manifest.json").write_text("{")
    said = profkit("report", "f")
    assert said.code == 7
    assert said.err.count("manifest.json cannot be read") == 1
    assert "samples  5" in said.out
    assert profkit("report", "f").code == 0


def test_damage_that_leaves_nothing_of_what_was_requested(profkit: Profkit, config: Config) -> None:
    folder = finished_session(config, "s-1")
    (folder / "manifest.json").write_text("{")
    (folder / "segment-000.speedscope.json").unlink()
    said = profkit("report", "f")
    assert (said.code, said.out) == (7, "")
    assert said.err.count("manifest.json cannot be read") == 1
    assert profkit("report", "f").code == 6


def test_a_database_that_is_none(profkit: Profkit, config: Config, tmp_path: Path) -> None:
    path = tmp_path / ".profkit" / "runs.db"
    path.parent.mkdir()
    path.write_text("no database " * 100)
    said = profkit("report")
    assert (said.code, said.out) == (7, "")
    assert "check PROFKIT_STORE" in said.err


def test_names_in_errors_are_escaped(profkit: Profkit, config: Config) -> None:
    keep(config, made_run())
    said = profkit("report", "\x1b[31mred\nline")
    assert "\x1b" not in said.err
    assert said.err.count("\n") == 1


@pytest.mark.usefixtures("three")
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ("measure", "--ab", "1", "2"),
            "no such option: --ab; `profkit compare` has it; see `profkit measure --help`",
        ),
        (("compare", "--markdown", "a", "b"), "no such option: --markdown; write --format markdown"),
        (("report", "--baseline", "x"), "no such option: --baseline; `profkit gate` has it"),
        (("report", "--zzz"), "no such option: --zzz; see `profkit report --help`"),
        (("report", "--limt", "3"), "no such option: --limt; did you mean --limit?"),
        (("--versoin",), "no such option: --versoin; did you mean --version?"),
        (("reprot",), "no such command 'reprot'; did you mean report?"),
        (("app.py",), "no such command 'app.py'; to profile a program, write `profkit run app.py`"),
        (("xyzzy",), "no such command 'xyzzy'; see `profkit --help`"),
    ],
)
def test_an_option_of_another_command_is_named(
    profkit: Profkit, arguments: tuple[str, ...], said: str
) -> None:
    done = profkit(*arguments)
    assert (done.code, done.out) == (2, "")
    assert said in done.err
