"""Which zygote an order needs: interpreter, tool, preload, and what libraries read when they are loaded."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping

from profkit.measuring.pool.kinds import ZygoteKind
from profkit.measuring.runner.preload import root_of
from profkit.model.measurement import Preload, Tool
from profkit.model.workorder import WorkOrder

_LOADED_WITH = (
    "LD_", "OMP_", "GOMP_", "KMP_", "MKL_", "OPENBLAS_", "BLIS_", "ATEN_", "TORCH", "PYTORCH_", "CUDA_",
    "NCCL_", "MALLOC_", "GLIBC_TUNABLES", "PYTHONHASHSEED", "PYTHONMALLOC", "CONDA_", "VIRTUAL_ENV",
)  # fmt: skip
"""What loader, OpenMP, BLAS and torch read once, when they are loaded: it makes a zygote another one."""
_FIXED = {"PATH": os.defpath, "HOME": "/", "LC_ALL": "C.UTF-8", "MKL_THREADING_LAYER": "GNU"}
"""MKL takes torch's OpenMP and brings none of its own: two in one process disturb each other."""
_THREAD_COUNTS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")


def kind_of(
    order: WorkOrder, tool: Tool, preload: Preload, draw: str = "", environ: Mapping[str, str] = os.environ
) -> ZygoteKind:
    """The zygote that measures `order` under `tool`."""
    foreign = bool(order.source_cmd or order.python)
    return ZygoteKind(
        command=_command(order),
        tool=tool,
        preload=preload,
        env=tuple(sorted(_zygote_env(order, tool, environ).items())),
        roots=() if foreign else _roots(preload),
        simulate=order.simulate if tool is Tool.VALGRIND else (),
        draw=draw,
    )


def _command(order: WorkOrder) -> tuple[str, ...]:
    """The words before the interpreter, and it; zygotes start in another folder, so paths are absolute."""
    python = order.python or ("python" if order.source_cmd else sys.executable)
    first, *others = (*order.source_cmd, python)
    return (os.path.abspath(first) if os.sep in first else first, *others)


def worker_env(order: WorkOrder, tool: Tool, environ: Mapping[str, str] = os.environ) -> dict[str, str]:
    """All of a worker's `os.environ`: the caller's, what its zygote depends on, and the order's changes.

    Empty where a command enters another environment: its zygote's is what that command made of the caller's.
    """
    if order.source_cmd:
        return {}
    own = {**_threads(order), **_seed(tool), **dict(order.env), "PROFKIT_DISABLE": "1"}
    return {**_FIXED, **_callers(environ), **own}


def _zygote_env(order: WorkOrder, tool: Tool, environ: Mapping[str, str]) -> dict[str, str]:
    if order.source_cmd:
        return {**_callers(environ), **_threads(order), **_seed(tool), **dict(order.env)}
    loaded = {name: value for name, value in environ.items() if name.startswith(_LOADED_WITH)}
    path = {"PATH": environ["PATH"]} if "PATH" in environ else {}
    home = {"HOME": environ["HOME"]} if "HOME" in environ else {}
    env = {**_FIXED, **path, **home, **loaded, **_threads(order), **_seed(tool)}
    return {**env, **{name: value for name, value in order.env if name.startswith(_LOADED_WITH)}}


def _callers(environ: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in environ.items() if not name.startswith("PROFKIT_")}


def _threads(order: WorkOrder) -> dict[str, str]:
    """Nothing for 0 threads: the caller's own variables decide."""
    return dict.fromkeys(_THREAD_COUNTS, str(order.num_threads)) if order.num_threads else {}


def _seed(tool: Tool) -> dict[str, str]:
    """Counts depend on the order of sets; times are to show what hash seeds do to them."""
    return {"PYTHONHASHSEED": "0"} if tool is Tool.VALGRIND else {}


def _roots(preload: Preload) -> tuple[str, ...]:
    """Folders of what the zygote imports, and of cloudpickle, which reads functions in its children."""
    wanted = ("cloudpickle",) if preload is Preload.NOTHING else ("cloudpickle", preload.value)
    return tuple(dict.fromkeys(root for name in wanted if (root := root_of(name)) is not None))
