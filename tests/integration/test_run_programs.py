"""Real programs under `profkit run`: output, exit code and open files as without it."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from tests.integration.harness import ROOT, await_samplers_end
from tests.integration.real_programs import PROFKIT_RUN, run, serve

pytestmark = pytest.mark.sampler

FILES = {
    "data.json": '{"a": [1, 2, {"b": 3}]}',
    "some_tests.py": (
        "import unittest\nclass Some(unittest.TestCase):\n    def test_a(self): self.assertEqual(1, 1)\n"
        "    def test_b(self): self.fail('no')\nif __name__ == '__main__': unittest.main()\n"
    ),
    "test_some.py": "def test_a(): pass\ndef test_b(): assert 1 == 2\n",
    "pool.py": (
        "import multiprocessing\ndef square(x): return x * x\nif __name__ == '__main__':\n"
        "    with multiprocessing.get_context('spawn').Pool(2) as pool: print(pool.map(square, range(9)))\n"
    ),
    "loader.py": (
        "import torch\nfrom torch.utils.data import DataLoader, Dataset\nclass Rows(Dataset):\n"
        "    def __len__(self): return 64\n    def __getitem__(self, n): return torch.tensor([n])\n"
        "if __name__ == '__main__':\n"
        "    print(sum(int(b.sum()) for b in DataLoader(Rows(), batch_size=8, num_workers=2)))\n"
    ),
    "ranks.py": (
        "import torch, torch.distributed as ranks\nranks.init_process_group('gloo')\n"
        "one = torch.ones(1) * ranks.get_rank()\nranks.all_reduce(one)\nprint(one.item(), flush=True)\n"
        "ranks.destroy_process_group()\n"
    ),
}
PROGRAMS = {
    "timeit": ["-m", "timeit", "-n", "1", "-r", "1", "pass"],
    "compileall": ["-m", "compileall", "-f", "-q", "."],
    "pip": ["-m", "pip", "list", "--format=json", "--disable-pip-version-check"],
    "json.tool": ["-m", "json.tool", "data.json"],
    "invalid arguments": ["-m", "json.tool", "--nope"],
    "unittest": ["some_tests.py"],
    "unittest as a module": ["-m", "unittest", "-q", "some_tests"],
    "pytest": ["-m", "pytest", "-q", "-p", "no:cacheprovider", "-n0", "test_some.py"],
    "doctest": ["-m", "doctest", str(ROOT / "profkit" / "units.py")],
    "pdb": ["-m", "pdb", "-c", "continue", "-c", "quit", "pool.py"],
    "trace": ["-m", "trace", "--count", "-C", "covered", "some_tests.py"],
    "zipapp": ["app.pyz", "one", "--two"],
    "spawn": ["pool.py"],
    "sympy": ["-c", "import sympy; x = sympy.symbols('x'); print(sympy.integrate(sympy.sin(x) ** 2, x))"],
    "data loader": ["loader.py"],
    "torchrun": ["-m", "torch.distributed.run", "--nproc-per-node", "2", "ranks.py"],
}
QUICK = ("json.tool", "unittest", "zipapp", "pdb")
NEEDS_TORCH = ("sympy", "data loader", "torchrun")  # sympy comes with torch


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    with zipfile.ZipFile(tmp_path / "app.pyz", "w") as archive:
        archive.writestr(
            "__main__.py", "import sys\nprint(__name__, sys.argv[1:], __file__)\nraise SystemExit(5)\n"
        )
    return tmp_path


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(
            name,
            marks=[
                *([] if name in QUICK else [pytest.mark.full]),
                *([pytest.mark.torch] if name in NEEDS_TORCH else []),
            ],
        )
        for name in PROGRAMS
    ],
)
def test_a_program_does_the_same(folder: Path, name: str) -> None:
    plain = run(folder, [], PROGRAMS[name])
    assert plain[-1]
    assert run(folder, PROFKIT_RUN, PROGRAMS[name]) == plain
    await_samplers_end(folder)


def test_ctrl_c_ends_a_server_as_it_does_alone(folder: Path) -> None:
    command = ["-m", "http.server", "--bind", "127.0.0.1", "0"]
    plain, profiled = (
        serve(folder, [*before, *command], "data.json", FILES["data.json"]) for before in ([], PROFKIT_RUN)
    )
    assert plain == profiled
    await_samplers_end(folder)
