"""`profkit compare`, `gate` and `history` on kept runs: which are meant, what is refused, exit codes."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from profkit.cli import sides
from profkit.comparing.selection import MOST_RUNS
from profkit.config import Config, read_config
from profkit.model.histogram import histogram_of
from profkit.model.measurement import AnyRun, Design
from profkit.model.run import Run
from profkit.store.run_files import encode_runs
from tests.support.cli_runs import Profkit, keep
from tests.support.example_measured_comparisons import more_counts, run
from tests.support.example_measurements import COUNTS, failed
from tests.support.example_runs import PROCESS, STARTED_NS, labelled


def git(folder: Path, *arguments: str) -> str:
    names = {f"GIT_{who}_{what}": "a@b" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    done = subprocess.run(
        ["git", *arguments], cwd=folder, env=os.environ | names | {"GIT_CONFIG_GLOBAL": "/dev/null"},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return done.stdout.strip()


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two commits: the first is tagged v1, the second is the branch trunk.

    Of either the store has two runs of "add", an order of "both ways", and a sampled region.
    """
    folder = tmp_path_factory.mktemp("checkout")
    git(folder, "init", "-q", "-b", "trunk", "--template=", ".")
    for number in (1, 2):
        git(folder, "commit", "-q", "--allow-empty", "-m", str(number))
    git(folder, "tag", "v1", "HEAD~1")
    runs: list[AnyRun] = []
    for day, (side, factor) in enumerate((("a", 1.0), ("b", 1.2))):
        commit, times = git(folder, "rev-parse", ("v1", "trunk")[day]), 1e-6 * factor
        runs += [
            run(f"{side}100000000", times, label="add", commit=commit, batch=f"{side}1", day=3 * day),
            run(f"{side}200000000", times, label="add", commit=commit, batch=f"{side}2", day=3 * day + 1),
            run(f"{side}300000000", None, more_counts(factor), "both ways", commit, f"{side}3", 3 * day),
            sampled(f"{side}400000000", round(100 * factor), commit, day),
        ]
    keep(read_config({}, folder), *runs)
    return folder


@pytest.fixture
def recorded(checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, str]:
    """A copy of that checkout, which we are in; its commits."""
    shutil.copytree(checkout, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return git(tmp_path, "rev-parse", "v1"), git(tmp_path, "rev-parse", "trunk")


def sampled(run_id: str, call_ms: int, commit: str, minute: int) -> Run:
    process, started_ns = replace(PROCESS, git_commit=commit), STARTED_NS + minute * 60 * 10**9
    made = labelled(run_id, "train_step", durations=histogram_of([call_ms * 10**6] * 20))
    return replace(made, info=replace(made.info, process=process, started_ns=started_ns))


def compared(profkit: Profkit, *arguments: str) -> list[tuple[list[str], list[str]]]:
    said = profkit("compare", *arguments, "--json")
    assert (said.code, said.err) == (0, "")
    orders = json.loads(said.out)["orders"]
    return [tuple([run["id"][:2] for run in order[side]["runs"]] for side in "ab") for order in orders]


@pytest.mark.usefixtures("recorded")
@pytest.mark.parametrize(
    ("sides", "found"),
    [
        (("a1", "b1"), (["a1"], ["b1"])),
        (("a1,a2", "b1"), (["a1", "a2"], ["b1"])),
        (("add@v1", "add"), (["a1", "a2"], ["b1", "b2"])),
        (("add@v1", "add@trunk"), (["a1", "a2"], ["b1", "b2"])),
        (("a1,add@v1", "add@HEAD@{0}"), (["a1", "a2"], ["b1", "b2"])),
    ],
)
def test_sides(profkit: Profkit, sides: tuple[str, str], found: tuple[list[str], list[str]]) -> None:
    assert compared(profkit, *sides) == [found]


@pytest.mark.usefixtures("recorded")
def test_what_is_sampled_without_samples_is_still_held_against_the_limit(
    profkit: Profkit, config: Config
) -> None:
    remote = sampled("c400000000", 200, "0" * 40, 9)
    keep(config, replace(remote, profile=None))
    said = profkit("gate", "c4", "--baseline", "a4")
    assert said.code == 1
    assert "The samples are not comparable: " in said.out
    assert profkit("gate", "c4", "--baseline", "a4", "--json").json()["comparison"] is None


def test_labels_may_hold_what_separates_sides(profkit: Profkit, config: Config) -> None:
    keep(
        config,
        run("a1", label="x @ y"),
        run("b1", label="f(1, 2)", batch="b2"),
        run("c1", label="g(3)", batch="b3"),
    )
    assert compared(profkit, "x @ y", "f(1, 2)") == [(["a1"], ["b1"])]
    assert compared(profkit, "f(1, 2),b1", "g(3)") == [(["b1"], ["c1"])]


def test_files_are_sides_where_there_is_no_store(profkit: Profkit, tmp_path: Path) -> None:
    for side, time_s in (("a", 1e-6), ("b", 2e-6)):
        (tmp_path / f"{side}.profkit.json").write_bytes(
            encode_runs([run(f"{side}100000000", time_s, label="add")])
        )
    files = [str(tmp_path / f"{side}.profkit.json") for side in "ab"]
    assert compared(profkit, *files) == [(["a1"], ["b1"])]


@pytest.mark.usefixtures("recorded")
def test_sampled_sides_are_compared_as_such(profkit: Profkit) -> None:
    said = profkit("compare", "a4", "b4", "--json")
    assert (said.code, said.json()["schema"]) == (0, "profkit.comparison/1")


@pytest.mark.usefixtures("recorded")
@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (("a1", "a4"), 2, "'a4' was sampled and 'a1' was measured"),
        (("a1,a4", "b1"), 2, "'a1,a4' means sampled and measured runs"),
        (("a1",), 2, "two sides, not 1"),
        (("a1,a2", "a2"), 2, "run a200000000 is on both sides"),
        (("a1", "b1", "--quick"), 2, "nothing is measured here"),
        (("a1", "b1", "--threads", "2"), 2, "nothing is measured here"),
        (("a1", "nowhere"), 6, "no run matches 'nowhere'"),
        (("add@nowhere", "a1"), 2, "'nowhere' is not a commit"),
        (("a1", "b1", "--json", "--html"), 2, "json and html are different formats"),
        (("--ab", "1", "2", "--git", "v1", "trunk"), 2, "--ab and --git compare different things"),
        (("--ab", "1", "2", "3"), 2, "'3' is one more"),
        (("--ab", "1", "def"), 2, "is not valid Python"),
        (("--git", "v1", "trunk"), 2, "--git measures one statement"),
        (("--git", "v1", "nowhere", "--", "1"), 2, "'nowhere' is not a commit"),
        (("--git", "v1", "trunk", "--language", "c++", "--", "1"), 2, "uses nothing of a checkout"),
    ],
)
def test_what_cannot_be_compared(profkit: Profkit, arguments: tuple[str, ...], code: int, told: str) -> None:
    said = profkit("compare", *arguments)
    assert (said.code, said.out) == (code, "")
    assert told in said.err


def test_without_a_checkout_there_are_no_commits(
    profkit: Profkit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    said = profkit("compare", "--git", "HEAD~1", "HEAD", "--", "1")
    assert (said.code, said.out) == (2, "")
    assert "is not in a git checkout" in said.err


@pytest.mark.usefixtures("recorded")
@pytest.mark.parametrize(
    ("arguments", "code", "outcome"),
    [
        (("add@trunk", "--baseline", "v1"), 1, "regression"),
        (("add@v1", "--baseline", "trunk"), 0, "ok"),
        (("b3", "--baseline", "v1", "--max-slowdown", "10%"), 1, "regression"),
        (("b3", "--baseline", "v1", "--max-slowdown", "25%"), 0, "ok"),
        (("a3", "--baseline", "trunk", "--fail-if-faster"), 1, "faster"),
        (("b1", "--baseline", "a1", "--max-slowdown", "18"), 5, "inconclusive"),
        (("b2", "--baseline", "add"), 0, "ok"),
        (("b4", "--baseline", "v1"), 5, "inconclusive"),
        (("b4", "--baseline", "v1", "--max-slowdown", "60%"), 0, "ok"),
    ],
)
def test_a_gate(profkit: Profkit, arguments: tuple[str, ...], code: int, outcome: str) -> None:
    said = profkit("gate", *arguments, "--json")
    assert (said.code, said.err) == (code, "")
    document = said.json()
    assert (document["outcome"], document["exit_code"]) == (outcome, code)
    assert document["comparison"] is not None


@pytest.mark.usefixtures("recorded")
@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("b1", "--baseline", "nowhere"), "is no run and no file, and "),
        (("b1", "--baseline", "b1"), "nothing"),
        (("b1", "--baseline", "a4"), "its runs are of another kind"),
    ],
)
def test_without_a_baseline(profkit: Profkit, arguments: tuple[str, ...], told: str) -> None:
    said = profkit("gate", *arguments)
    assert (said.code, said.out) == (4, "")
    assert told in said.err


def test_a_baseline_that_is_the_only_run_of_its_label(
    profkit: Profkit, config: Config, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # outside a checkout, as many first builds are
    keep(config, run("c1", label="new"))
    said = profkit("gate", "new", "--baseline", "new")
    assert (said.code, said.out) == (4, "")
    assert "there is nothing in it but the current run itself" in said.err


def test_a_commit_at_which_nothing_was_recorded(
    profkit: Profkit, config: Config, recorded: tuple[str, str]
) -> None:
    keep(config, run("c1", label="new", commit=recorded[1], batch="c1", day=9))
    said = profkit("gate", "--baseline", "v1")
    assert said.code == 4
    assert f"nothing of 'new' was recorded at commit {recorded[0][:10]}" in said.err
    assert "profkit compare --git v1 HEAD -- STMT" in said.err


def test_the_newest_batch_is_held_against_the_one_before(profkit: Profkit, config: Config) -> None:
    keep(
        config,
        run("a1", counts=COUNTS, label="add", batch="1"),
        run("b1", counts=more_counts(1.5), label="add", batch="2", day=1),
    )
    said = profkit("gate", "--baseline", "add", "--markdown", "-")
    assert said.code == 1
    assert said.out.startswith("# ❌ Regression\n")
    assert "### Difference by function" in said.out


def test_runs_that_took_turns_are_held_against_each_other(
    profkit: Profkit, config: Config, recorded: tuple[str, str]
) -> None:
    batch = Design.ALTERNATING.batch("0f")
    old, new = (
        run(f"{name}100000000", time_s, label="add", commit=commit, batch=batch, day=9)
        for name, time_s, commit in zip("cd", (1e-6, 1.06e-6), recorded, strict=True)
    )
    keep(config, old, new)
    said = profkit("gate", "--baseline", "v1", "--json")
    assert said.code == 1
    (order,) = said.json()["comparison"]["orders"]  # type: ignore[index]
    assert [one["id"] for side in "ab" for one in order[side]["runs"]] == ["c100000000", "d100000000"]
    assert order["times"]["design"] == "alternating"
    assert profkit("gate", "add", "--baseline", "v1", "--json").json()["checks"] == said.json()["checks"]
    git(Path.cwd(), "commit", "-q", "--allow-empty", "-m", "3")
    assert "the newest runs are of several commits" in profkit("gate", "--baseline", "v1").err


@pytest.mark.parametrize("sides", [("add", "a1"), ("a1", "add")])
def test_a_label_never_mixes_the_commits_of_a_batch(
    profkit: Profkit, config: Config, recorded: tuple[str, str], sides: tuple[str, str]
) -> None:
    batch = Design.ALTERNATING.batch("0e")
    keep(
        config,
        *(
            run(f"{name}100000000", time_s, label="add", commit=commit, batch=batch, day=9)
            for name, time_s, commit in zip("cd", (1e-6, 1.06e-6), recorded, strict=True)
        ),
    )
    ((a, b),) = compared(profkit, *sides)
    assert sorted((a, b)) == [["a1"], ["b1", "b2", "d1"]]
    git(Path.cwd(), "commit", "-q", "--allow-empty", "-m", "3")
    said = profkit("compare", *sides)
    assert said.code == 2
    assert f"'add' are of several commits ({recorded[0][:10]} and {recorded[1][:10]})" in said.err


def test_a_batch_is_a_side(profkit: Profkit, config: Config) -> None:
    for side in "ab":
        keep(
            config, *(run(f"{side}{n}0", label=label, batch=f"{side}{side}") for n, label in enumerate("xy"))
        )
    assert compared(profkit, "aa", "bb") == [(["a0"], ["b0"]), (["a1"], ["b1"])]


@pytest.mark.parametrize(
    ("option", "name", "begins"),
    [
        ("--markdown", "summary.md", "# ✅ No regression\n"),
        ("-o", "summary.md", "# ✅ No regression\n"),
        ("-o", "summary.json", '{"schema": "profkit.gate/1"'),
    ],
)
def test_a_summary_goes_into_a_file_as_well(
    profkit: Profkit, config: Config, tmp_path: Path, option: str, name: str, begins: str
) -> None:
    keep(config, run("a1"), run("b1", batch="b2", day=1))
    said = profkit("gate", "b1", "--baseline", "a1", option, str(tmp_path / name))
    assert (said.code, said.out.splitlines()[0]) == (0, "No regression")
    assert (tmp_path / name).read_text().startswith(begins)


@pytest.mark.parametrize("value", ["x", "-1%", "%"])
def test_limits_are_percentages(profkit: Profkit, value: str) -> None:
    said = profkit("gate", "--baseline", "a", "--max-slowdown", value)
    assert (said.code, said.out) == (2, "")


def test_a_label_means_all_runs_like_its_newest_one(profkit: Profkit, config: Config) -> None:
    befores = [labelled(f"a{number}0", "before", number) for number in range(4)]
    afters = [labelled(f"b{number}0", "after", number) for number in range(3)]
    elsewhere = replace(PROCESS, git_commit="0" * 40)
    keep(config, *befores, *afters, labelled("c00", "before", 99, process=elsewhere))
    said = profkit("compare", "before", "after", "--json").json()
    assert [len(said[side]["runs"]) for side in "ab"] == [4, 3]  # type: ignore[index]
    assert said["grade"] == "confirmed"
    assert "A: 1 run left out (1 of another commit)" in profkit("compare", "before", "after").out


@pytest.mark.parametrize("searched", [10, 35, 50, 500])
def test_of_a_label_with_many_runs_the_newest_are_compared(
    profkit: Profkit, config: Config, monkeypatch: pytest.MonkeyPatch, searched: int
) -> None:
    monkeypatch.setattr(sides, "_MOST_SEARCHED", searched)
    elsewhere = replace(PROCESS, git_commit="0" * 40)
    befores = [labelled(f"a{number:02}", "before", number) for number in range(50)]
    others = [labelled(f"c{number}", "before", number + 0.5, process=elsewhere) for number in range(3)]
    keep(config, *befores, *others, labelled("b00", "after"), labelled("b01", "after", 1))
    said = profkit("compare", "before", "after", "--json").json()
    taken = [one["id"] for one in said["a"]["runs"]]  # type: ignore[index]
    assert taken == [f"a{number:02}" for number in reversed(range(MOST_RUNS))]
    found = profkit("compare", "before", "after").out
    assert "A: 23 runs left out (3 of another commit, 20 older than enough others)" in found


def test_a_gate_compares_what_both_sides_have(
    profkit: Profkit, config: Config, recorded: tuple[str, str]
) -> None:
    before, now = recorded
    keep(
        config,
        run("c1", None, COUNTS, "parse", before, "c1", day=7),
        run("d1", None, more_counts(1.5), "parse", now, "d1", day=8),
        run("d2", 1e-6, label="parse", commit=now, batch="d2", day=9),
    )
    said = profkit("gate", "--baseline", "v1", "--json")
    assert (said.code, said.json()["outcome"]) == (1, "regression")
    assert [check["measure"] for check in said.json()["checks"]] == ["instructions"]  # type: ignore[attr-defined]


def test_a_noisy_time_does_not_replace_an_exact_count(
    profkit: Profkit, config: Config, recorded: tuple[str, str]
) -> None:
    for name, commit, day in (("c", recorded[0], 6), ("d", recorded[1], 8)):
        keep(
            config,
            run(f"{name}1", None, COUNTS, "parse", commit, f"{name}1", day),
            run(f"{name}2", 1e-6 * (1 + (name == "d") / 25), None, "parse", commit, f"{name}2", day + 1),
        )
    said = profkit("gate", "--baseline", "v1", "--json")
    checks = {check["measure"]: check["outcome"] for check in said.json()["checks"]}  # type: ignore[attr-defined]
    assert checks == {"instructions": "ok", "time": "inconclusive"}
    assert said.code == 0


def test_an_empty_store_has_no_run_to_check(profkit: Profkit) -> None:
    assert profkit("gate", "--baseline", "main").code == 6
    assert "6 no run to check" in " ".join(profkit("gate", "--help").out.split())


def test_a_history(profkit: Profkit, recorded: tuple[str, str], tmp_path: Path) -> None:
    (series,) = profkit("history", "add", "--json").json()["series"]  # type: ignore[misc]
    assert [(point["commit"], len(point["runs"])) for point in series["points"]] == [
        (commit, 2) for commit in recorded
    ]
    assert series["points"][1]["beyond_noise"]
    assert "time of one call" in profkit("history", "train_step").out.lower()
    page = tmp_path / "history.html"
    assert profkit("history", "add", "--html", "-o", str(page)).out == ""
    assert page.read_text().startswith("<!doctype html>")
    assert profkit("history", "nowhere").code == 6


def test_a_history_of_failures(profkit: Profkit, config: Config) -> None:
    keep(config, failed())
    said = profkit("history", "broken")
    assert (said.code, said.out) == (2, "")
    assert "have no numbers" in said.err
