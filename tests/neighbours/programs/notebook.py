"""Run cells in a Jupyter kernel and print what each of them puts out."""

from __future__ import annotations

import nbformat
from nbclient import NotebookClient

HEAD = """
import importlib, sys, time
sys.path.insert(0, "")
sys.dont_write_bytecode = True
from colours import green, red
from profkit import profile, profiled
EXACT = {"rate": 100.0, "blocking": True}
"""
WORK = """
@profile(label="work", **EXACT)
def work():
    red(0.3)
    return "red"
work()
"""
BLOCK = """
with profiled("block", **EXACT):
    red(0.3)
print("red")
"""
GENERATOR = """
@profile(label="items", **EXACT)
def items(count):
    for number in range(count):
        red(0.1)
        yield "red"
list(items(3))
"""
AWAITED = """
import asyncio
@profile(label="awaited", **EXACT)
async def awaited():
    for _ in range(30):
        red(0.01)
        await asyncio.sleep(0)
    return "red"
print(await asyncio.gather(awaited(), awaited()))
"""
LAMBDA = """
called = profile(label="lambda", **EXACT)(lambda: red(0.3))
print(called())
"""
MODULE = """
from colours import green, red
from profkit import profile
@profile(label="NAME", rate=100.0, blocking=True)
def function():
    red(0.3)
    return "red"
"""
WRITE = f"""
from pathlib import Path
TEXT = {MODULE!r}
for name in ("reloaded", "autoreloaded"):
    Path(name + "_module.py").write_text(TEXT.replace("NAME", name))
import reloaded_module
print(reloaded_module.function())
"""
EDIT = """
for name in ("reloaded", "autoreloaded"):
    text = TEXT.replace("NAME", name).replace("red(", "green(").replace('"red"', '"green"')
    Path(name + "_module.py").write_text(text)
importlib.reload(reloaded_module)
print(reloaded_module.function())
"""
AUTORELOAD = """
%load_ext autoreload
%autoreload 2
import autoreloaded_module
print(autoreloaded_module.function())
"""
AGAIN = "print(autoreloaded_module.function())"
FAILING = """
@profile(label="fails")
def fails():
    raise ValueError("mine")
fails()
"""


def edited(cell: str) -> str:
    return cell.replace("red", "green")


CELLS = [
    HEAD, WORK, edited(WORK), "work()", BLOCK, edited(BLOCK), BLOCK, GENERATOR, edited(GENERATOR), AWAITED,
    edited(AWAITED), LAMBDA, edited(LAMBDA), WRITE, AUTORELOAD, EDIT, AGAIN, FAILING, "%time work()",
]  # fmt: skip


def without_times(text: str) -> list[str]:
    return [line for line in text.splitlines() if "time" not in line.lower()]


def main() -> None:
    cells = [nbformat.v4.new_code_cell(cell) for cell in CELLS]
    notebook = nbformat.v4.new_notebook(cells=cells)
    NotebookClient(
        notebook, timeout=60, kernel_name="python3", allow_errors=True, resources={"metadata": {"path": "."}}
    ).execute()
    for cell in notebook.cells:
        for output in cell.outputs:
            text = output.get("text") or output.get("data", {}).get("text/plain") or output.get("evalue")
            print(
                cell.execution_count,
                output.output_type,
                without_times(text),
            )


if __name__ == "__main__":
    main()
