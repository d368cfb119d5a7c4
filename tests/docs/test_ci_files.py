"""The files for GitHub Actions and GitLab CI: their steps run in bash, with real `gh`, curl and git."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import yaml

from benchmarks.guides import FOLDER, read_guide
from tests.integration.harness import environment

GUIDE = read_guide(FOLDER / "ci-gate.md")
GITHUB, GITLAB = (yaml.safe_load(GUIDE.files[name]) for name in ("github.yml", "gitlab.yml"))
AUTHOR = {
    "GIT_AUTHOR_NAME": "Ada", "GIT_AUTHOR_EMAIL": "ada@example.org",
    "GIT_COMMITTER_NAME": "Ada", "GIT_COMMITTER_EMAIL": "ada@example.org",
}  # fmt: skip
MARK = "<!-- profkit gate -->"


@dataclass
class Api:
    """Comments of a pull or merge request, as both services keep them."""

    url: str = ""
    comments: list[dict[str, Any]] = field(default_factory=list)
    tokens: set[str] = field(default_factory=set)

    def add(self, body: str) -> dict[str, Any]:
        number = len(self.comments) + 1
        self.comments.append({"id": number, "body": body, "url": f"{self.url}/comments/{number}"})
        return self.comments[-1]


@contextmanager
def serving(api: Api) -> Iterator[str]:
    """Serve an API, and yield the address of the server."""

    class Handler(BaseHTTPRequestHandler):
        def answer(self, document: object) -> None:
            api.tokens |= {self.headers.get("Authorization", ""), self.headers.get("PRIVATE-TOKEN", "")}
            data = json.dumps(document).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def body(self) -> str:
            data = self.rfile.read(int(self.headers["Content-Length"])).decode()
            if self.headers["Content-Type"].startswith("application/x-www-form-urlencoded"):
                return parse_qs(data)["body"][0]
            return json.loads(data)["body"]

        def do_GET(self) -> None:
            assert re.search(r"/(issues/7/comments|merge_requests/7/notes)$", urlsplit(self.path).path)
            self.answer(api.comments)

        def do_POST(self) -> None:
            self.answer(api.add(self.body()))

        def change(self) -> None:
            comment = api.comments[int(self.path.rpartition("/")[2]) - 1]
            comment["body"] = self.body()
            self.answer(comment)

        do_PATCH = do_PUT = change

        def log_message(self, *arguments: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}"
        api.url = api.url or address
        yield address
        server.shutdown()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A clone whose branch is one commit, slower than `main`, ahead of its origin."""
    origin, clone = tmp_path / "origin", tmp_path / "clone"
    origin.mkdir()
    (origin / "app.py").write_text(GUIDE.files["app.py"], "utf-8")
    for command in GUIDE.given[:2]:
        assert run(command, origin, AUTHOR).returncode == 0
    assert (
        run(f"git clone -q {origin} {clone}; cd {clone}; git checkout -qb change", tmp_path).returncode == 0
    )
    assert run(GUIDE.given[2], clone, AUTHOR).returncode == 0
    return clone


def run(
    script: str, folder: Path, variables: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a step as both services do: bash that ends at the first failure, also within a pipe."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    variables = environment(PATH=path, **(variables or {}))
    return subprocess.run(
        ["bash", "-eo", "pipefail", "-c", script], cwd=folder, env=variables,
        capture_output=True, text=True, check=False, timeout=240,
    )  # fmt: skip


def expanded(value: str) -> str:
    """Return a value of GitHub's file with its expressions replaced, all of which are known."""
    known = {
        "github.base_ref": "main",
        "github.repository": "ada/app",
        "github.event.number": "7",
        "github.token": "of-the-job",
    }
    return re.sub(r"\$\{\{ (.*?) \}\}", lambda found: known[found[1]], str(value))


@pytest.mark.valgrind
@pytest.mark.slow
def test_github(repository: Path, tmp_path: Path) -> None:
    job = GITHUB["jobs"]["gate"]
    steps = {step["name"]: step for step in job["steps"] if "run" in step}
    assert list(steps) == ["Install", "Count both commits", "Gate", "Job summary", "Comment"]
    page = tmp_path / "page.md"
    # `gh` asks this host without encryption; the server is its proxy.
    api = Api("http://api.github.localhost")
    with serving(api) as proxy:
        variables = {name: expanded(value) for name, value in job["env"].items()}
        variables |= {"GITHUB_STEP_SUMMARY": str(page), "GH_HOST": "github.localhost", "http_proxy": proxy}

        def follow(name: str) -> subprocess.CompletedProcess[str]:
            own = {key: expanded(value) for key, value in steps[name].get("env", {}).items()}
            return run(steps[name]["run"], repository, variables | own)

        counted = follow("Count both commits")
        assert counted.returncode == 0, counted.stderr
        gate = follow("Gate")
        assert gate.returncode == 1, gate.stderr
        assert follow("Job summary").returncode == 0
        assert_is_regression(page.read_text("utf-8"))
        api.add("a comment of somebody else")
        for _ in range(2):  # the second push changes the comment of the first
            commented = follow("Comment")
            assert commented.returncode == 0, commented.stderr
    assert [comment["body"].startswith(MARK) for comment in api.comments] == [False, True]
    assert_is_regression(api.comments[1]["body"])
    assert "token of-the-job" in api.tokens


def test_steps_after_a_failed_gate_run() -> None:
    steps = {step.get("name"): step for step in GITHUB["jobs"]["gate"]["steps"]}
    assert all(steps[name]["if"].startswith("always()") for name in ("Job summary", "Comment"))
    assert GITHUB["permissions"] == {"contents": "read", "pull-requests": "write"}
    assert GITHUB["jobs"]["gate"]["steps"][0]["with"] == {"fetch-depth": 0}
    assert GITLAB["speed"]["variables"]["GIT_DEPTH"] == 0
    assert GITLAB["speed"]["artifacts"] == {"when": "always", "paths": ["summary.md"]}


@pytest.mark.valgrind
@pytest.mark.full
def test_gitlab(repository: Path) -> None:
    job = GITLAB["speed"]
    api = Api()
    with serving(api):
        variables = {
            "CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "main", "CI_MERGE_REQUEST_IID": "7", "CI_PROJECT_ID": "3",
            "CI_API_V4_URL": api.url, "GATE_TOKEN": "of-the-project",
        }  # fmt: skip
        own = {
            name: re.sub(r"\$(\w+)", lambda found: variables[found[1]], str(value))
            for name, value in job["variables"].items()
        }
        gate = run("\n".join(job["script"]), repository, variables | own)
        assert gate.returncode == 1, gate.stderr
        assert_is_regression((repository / "summary.md").read_text("utf-8"))
        api.add("a note of somebody else")
        for _ in range(2):
            noted = run("\n".join(job["after_script"]), repository, variables | own)
            assert noted.returncode == 0, noted.stderr
    assert [note["body"].startswith(MARK) for note in api.comments] == [False, True]
    assert_is_regression(api.comments[1]["body"])
    assert "of-the-project" in api.tokens


def assert_is_regression(summary: str) -> None:
    assert "Regression" in summary
    assert "more instructions; the limit is 1 %" in summary
    assert "unicode_strip" in summary
