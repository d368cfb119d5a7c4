"""Package layers: imports only go down, and packages on one floor never import each other."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent / "profkit"

FLOORS = {
    "originals": -3,
    "version": -2, "errors": -2, "units": -2, "clock": -2, "torch_tracing": -2, "disabled": -2,
    "regular_files": -2,
    "project_file": -1,
    "config": 0,
    "model": 1,
    "transforms": 2, "stats": 2,
    "process": 3, "formats": 3, "comparing": 3,
    "samplers": 4, "store": 4, "render": 4,
    "ingest": 5, "measuring": 5,
    "session": 6, "isolated": 6,
    "calls": 7,
    "profiler": 8, "pytorch": 8,
    "decorators": 9, "program": 9,
    "doctor": 10, "live": 10,
    "cli": 11,
    "integrations": 12,
    "__init__": 13, "__main__": 13,
}  # fmt: skip

LAYERS = {
    "measuring": (
        {"errors", "orders", "warnings", "worker"},
        {"cpp", "pool", "transfer", "variants"},
        {"definitions", "results"},
        {"runner"},
        {"packed_orders"},
        {"batches"},
        {"fleet"},
        {"api", "programs"},
        {"decorated"},
    ),
    "render": (
        {"escape", "formatting", "options"},
        {"cells", "document"},
        {"markdown", "text"},
        {"views"},
        {"html", "json", "svg"},
        {"registry"},
        {"notebook"},
    ),
    "session": (
        {"activity", "awaits"},
        {"counters"},
        {"failures", "record", "resources"},
        {"fallbacks", "results"},
        {"owner", "session"},
        {"joining", "pushing", "tasks", "windows"},
        {"ticker"},
        {"manager", "memory"},
    ),
}
"""The floors inside packages, lowest first: modules and packages import lower ones only."""

BANNED_NAMES = {"profile", "measure", "compare", "types", "statistics", "typing", "utils"}
"""Names of public functions and of standard modules, and the vague `utils`."""

NAMED_FREELY = {"model", "commands"}
"""Packages whose modules may have these names: nouns of the model, command names."""

HOMES = {
    "psycopg": {"store/connections.py", "store/urls.py"},
    "rich": {"render", "cli"},
    "click": {"cli", "integrations/ipython"},
    "IPython": {"integrations/ipython"},
    "textual": {"cli/top"},
    "distributed": {"cli/commands"},
    "subprocess": {"process", "samplers", "measuring/cpp"},
    "memray": {"samplers/memray"},
    "wrapt": {"calls/wrapper.py", "torch_tracing.py", "measuring/decorated", "pytorch"},
    "torch": {"measuring/worker", "measuring/transfer", "pytorch"},
    "numpy": set(),
    "pickle": {"measuring/worker", "measuring/transfer"},
    "cloudpickle": {"measuring/worker", "measuring/transfer"},
}
"""Packages and modules that may import each outside package."""

WORKER, HELPER = ROOT / "measuring" / "worker", ROOT / "samplers" / "helper"
"""Packages with relative imports only: they run in any environment, with or without profkit."""

UNIT_TESTS = Path(__file__).parent / "unit"

UNIT_TESTS_OF_NO_PACKAGE = {"benchmarks"}
"""Folders of unit tests without a package of the same name in profkit; take a folder off once it has one."""


def modules() -> list[Path]:
    return sorted(ROOT.rglob("*.py"))


def unit_of(path: Path) -> str:
    first = path.relative_to(ROOT).parts[0]
    return first.removesuffix(".py")


def imported(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            if node.level == 1 and path.parent in (WORKER, HELPER):
                continue
            assert node.level == 0, f"{path}:{node.lineno}: write the import out"
            assert node.module is not None
            yield node.module
            if node.module == "profkit":
                yield from (f"profkit.{alias.name}" for alias in node.names)


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_go_down(path: Path) -> None:
    unit = unit_of(path)
    assert unit in FLOORS, f"{path}: give this module a floor"
    for name in imported(path):
        if not name.startswith("profkit."):
            continue
        other = name.split(".")[1]
        if other == unit:
            continue
        assert other in FLOORS, f"{path} imports {name}, which has no floor"
        assert FLOORS[other] < FLOORS[unit], f"{path} (floor {FLOORS[unit]}) imports {name} ({FLOORS[other]})"


@pytest.mark.parametrize("package", LAYERS)
def test_imports_go_down_inside_a_package(package: str) -> None:
    layer_of = {name: n for n, names in enumerate(LAYERS[package]) for name in names}
    there = {
        path.stem
        for path in (ROOT / package).glob("*")
        if path.suffix == ".py" or (path / "__init__.py").exists()
    }
    assert there - {"__init__"} == layer_of.keys()
    for path in (ROOT / package).rglob("*.py"):
        unit = path.relative_to(ROOT / package).parts[0].removesuffix(".py")
        for name in imported(path):
            other = name.removeprefix(f"profkit.{package}.").split(".")[0]
            if not name.startswith(f"profkit.{package}.") or other not in layer_of or other == unit:
                continue
            assert layer_of[other] < layer_of[unit], f"{path} imports {name}"


def test_no_modules_import_each_other() -> None:
    """Not in a circle either, and not late in a function; types alone may be imported from anywhere."""
    by_name = {name_of(path): ast.parse(path.read_text("utf-8")) for path in modules()}
    left = {name: set(modules_in(tree, by_name)) - {name} for name, tree in by_name.items()}
    while free := [name for name, others in left.items() if not others & left.keys()]:
        for name in free:
            del left[name]
    assert not left, f"modules in circles, or above one: {sorted(left)}"


def name_of(path: Path) -> str:
    return ".".join(path.relative_to(ROOT.parent).with_suffix("").parts).removesuffix(".__init__")


def modules_in(tree: ast.AST, known: Collection[str]) -> Iterator[str]:
    """The modules of profkit that code imports when it runs."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        if isinstance(node, ast.ImportFrom) and node.module in known:
            names = (f"{node.module}.{alias.name}" for alias in node.names)
            yield from (name if name in known else node.module for name in names)
        yield from modules_in(node, known)


def test_programs_that_run_elsewhere_import_nothing_of_profkit() -> None:
    for path in (*WORKER.glob("*.py"), *HELPER.glob("*.py")):
        assert not [name for name in imported(path) if name.startswith("profkit")], path


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(ROOT)))
def test_outside_packages_have_homes(path: Path) -> None:
    place = str(path.relative_to(ROOT))
    for name in imported(path):
        homes = HOMES.get(name.split(".")[0])
        if homes is not None:
            assert any(place == home or place.startswith(f"{home}/") for home in homes), (
                f"{place} imports {name}, which belongs to {sorted(homes) or 'nobody'}"
            )


def test_no_module_has_a_name_that_means_something_else() -> None:
    names = {path.stem for path in modules() if path.parent.name not in NAMED_FREELY}
    assert not names & BANNED_NAMES


def test_packages_only_hand_names_on() -> None:
    for path in ROOT.glob("*/__init__.py"):
        for node in ast.parse(path.read_text("utf-8")).body:
            assert isinstance(node, (ast.Expr, ast.Import, ast.ImportFrom, ast.Assign)), (
                f"{path}:{node.lineno}"
            )


def test_files_and_functions_keep_their_size() -> None:
    for path in modules():
        text = path.read_text("utf-8")
        assert text.count("\n") <= 400, f"{path} has {text.count(chr(10))} lines"
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                assert node.end_lineno is not None
                assert node.end_lineno - node.lineno < 60, f"{path}:{node.lineno} {node.name}"


def test_unit_tests_mirror_the_package() -> None:
    folders = {path.parent.relative_to(UNIT_TESTS).as_posix() for path in UNIT_TESTS.rglob("test_*.py")}
    packages = {path.parent.relative_to(ROOT).as_posix() for path in ROOT.rglob("__init__.py")}
    assert folders - packages == UNIT_TESTS_OF_NO_PACKAGE
    for folder in folders:
        assert (UNIT_TESTS / folder / "__init__.py").exists(), f"tests/unit/{folder} is no package"
