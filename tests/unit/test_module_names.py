"""Modules that the package names in strings or imports late: each exists, with what it must have."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

import profkit
from profkit.cli.main import COMMANDS, command_named
from profkit.formats.registry import FORMATS
from profkit.measuring.worker import __main__ as worker_program
from profkit.measuring.worker import unpack
from profkit.model import run
from profkit.render import registry as render_registry
from profkit.render.options import DEFAULTS, PIPE
from profkit.render.registry import RENDERERS, Kind
from profkit.samplers import registry as samplers

PACKAGE = Path(profkit.__file__).parent
_MODULE = re.compile(r"profkit(\.[a-z_]\w*)+")
_FILE = re.compile(r"(\w+/)+(\w+\.py)?|\w+\.py")
ALLOWED_FILES = {
    "measuring/pool/command.py": {"__main__.py"},
    "measuring/cpp/toolchain.py": {"version.py", "utils/cpp_extension.py"},  # torch's
    "measuring/cpp/building.py": {"model.py"},  # TorchScript's, in a folder of its own
    "doctor/tools.py": {"version.py"},  # torch's
    "disabled.py": {"os.py"},
    "samplers/helper/tasks.py": {"base_events.py", "events.py", "runners.py"},  # asyncio's
    "cli/orders_process.py": {"__init__.py", "api.py"},  # the user's
}
"""Names of Python files in strings that are no modules of profkit with another name."""


def trees() -> Iterator[tuple[str, ast.Module]]:
    for path in sorted(PACKAGE.rglob("*.py")):
        yield str(path.relative_to(PACKAGE)), ast.parse(path.read_text("utf-8"))


def strings(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def late_imports(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """The modules and names that functions import."""
    for function in ast.walk(tree):
        if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
            for node in ast.walk(function):
                if isinstance(node, ast.ImportFrom) and not node.level and node.module is not None:
                    yield from ((node.module, alias.name) for alias in node.names)


def test_each_module_named_in_a_string_exists() -> None:
    named = [(place, text) for place, tree in trees() for text in strings(tree) if _MODULE.fullmatch(text)]
    assert named
    assert [(place, text) for place, text in named if find_spec(text) is None] == []


def test_no_string_has_the_path_of_a_module() -> None:
    paths = [
        (place, text)
        for place, tree in trees()
        for text in strings(tree)
        if _FILE.fullmatch(text)
        and (text.endswith(".py") or (PACKAGE / text).is_dir())
        and text not in ALLOWED_FILES.get(place, ())
    ]
    assert paths == []


def names_in(module: str) -> set[str]:
    """The names in a module; by its source if it imports another tool, which may not be installed."""
    if not module.startswith("profkit.integrations"):
        return set(dir(import_module(module)))
    spec = find_spec(module)
    assert spec is not None
    assert spec.origin is not None
    names: set[str] = set()
    for node in ast.parse(Path(spec.origin).read_text("utf-8")).body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        names.update(target.id for target in targets if isinstance(target, ast.Name))
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            names.add(node.name)
    return names


def test_each_late_import_finds_its_name() -> None:
    """The functions of commands import what they run with."""
    names = {
        (module, name)
        for _, tree in trees()
        for module, name in late_imports(tree)
        if module.startswith("profkit")
    }
    assert ("profkit.comparing.gate", "check_calls") in names
    for module, name in sorted(names):
        assert name in names_in(module) or find_spec(f"{module}.{name}") is not None, f"{module}:{name}"


@pytest.mark.parametrize("name", profkit.__all__)
def test_each_public_name_is_there(name: str) -> None:
    assert getattr(profkit, name) is not None


def test_the_public_names_are_those_with_a_home() -> None:
    assert set(profkit.__all__) == {*profkit._HOMES, "__version__", "isolated"}


@pytest.mark.parametrize("name", FORMATS)
def test_each_format_has_its_functions(name: str) -> None:
    known = FORMATS[name]
    for function in (known.encode, known.encode_timed, known.decode, known.select, known.sniff, known.origin):
        if isinstance(function, partial):
            module, name_there = function.args
            assert callable(getattr(import_module(module), name_there))


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_has_its_name_and_help(name: str) -> None:
    command = command_named(name)
    assert command.name == name
    assert (command.help or "").partition("\n\n")[0] == COMMANDS[name]


def test_each_sampler_has_its_name() -> None:
    for name in samplers.names():
        if name != samplers.AUTO:
            assert samplers.resolve(name).name == name


def test_each_role_of_the_worker_has_a_program() -> None:
    for module in worker_program._MODULES.values():
        assert callable(import_module(f"profkit.measuring.worker.{module}").main)


KINDS = [kind for kind in vars(render_registry).values() if isinstance(kind, Kind)]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_each_kind_has_a_view(kind: Kind[object]) -> None:
    module, _, name = kind.view.partition(":")
    assert list(inspect.signature(getattr(import_module(f"profkit.render.{module}"), name)).parameters)[1:]


@pytest.mark.parametrize("key", RENDERERS, ids=" as ".join)
def test_each_renderer_takes_what_its_kind_shows(key: tuple[str, str]) -> None:
    module, _, name = RENDERERS[key].partition(":")
    function = getattr(import_module(f"profkit.render.{module}"), name)
    kind = next(one for one in KINDS if one.name == key[0])
    assert kind.renderer(key[1]) is function
    assert key[1] in kind.formats
    parameters = list(inspect.signature(function).parameters.values())
    assert [one.default for one in parameters[1:3]] == [DEFAULTS, PIPE]


def test_what_runs_are_shown_with_in_notebooks() -> None:
    renderer = import_module(run._RENDERER)
    assert callable(renderer.notebook_html)
    assert callable(renderer.notebook_text)


def test_payloads_name_their_loader() -> None:
    assert unpack.__name__ == unpack.SENT_AS
