# ruff: noqa: E501
"""Programs that are started in unusual ways and places, and that inspect the interpreter."""

from __future__ import annotations

from benchmarks.faults.snippets.base import SAMPLING, Snippet, each

_F = "@P\ndef f(n=0): return n + sum(range(1000)) * 0\n"
_CALL = _F + "print(f(1), f(2), f(3))"
_SHADOWING = (
    "secrets", "random", "token", "bisect", "statistics", "glob", "array", "shlex", "psutil", "json", "queue",
    "platform", "uuid", "heapq",
)  # fmt: skip
"""User modules with names of standard modules that profkit or its tools may import."""
_INTERPRETER = {
    "gc-callbacks": "import gc\n"
    + _F
    + "hits = []; gc.callbacks.append(lambda p, i: hits.append(p)); f(); gc.collect(); print(hits[-2:], len(gc.callbacks))",
    "gc-disabled": "import gc\ngc.disable()\n" + _F + "f(); print(gc.isenabled())",
    "gc-frozen": "import gc\n" + _F + "f(); gc.freeze(); print(f(1))",
    "tracemalloc": "import tracemalloc\ntracemalloc.start()\n" + _F + "print(f(1), tracemalloc.is_tracing())",
    "settrace": _F
    + "lines = []\nsys.settrace(lambda fr, e, a: lines.append(fr.f_code.co_name) if fr.f_code.co_name == 'f' else None); f(1); sys.settrace(None); print(lines)",
    "setprofile": _F
    + "names = []\nsys.setprofile(lambda fr, e, a: names.append(e) if fr.f_code.co_name == 'f' and e in ('call', 'return') else None); f(1); sys.setprofile(None); print(names)",
    "random-untouched": "import random\nrandom.seed(7)\n"
    + _F
    + "f(); print(random.random(), random.getstate()[1][:2])",
    "locale": "import locale\nlocale.setlocale(locale.LC_ALL, 'C')\n"
    + _F
    + "f(); print(locale.setlocale(locale.LC_ALL))",
    "decimal": "import decimal\ndecimal.getcontext().prec = 5\n"
    + _F
    + "f(); print(decimal.getcontext().prec)",
    "context-variables": "import contextvars\nv = contextvars.ContextVar('v', default=1)\n@P\ndef f(): v.set(2)\nf(); print(v.get(), len(contextvars.copy_context()))",
    "environment": _F + "before = dict(os.environ); f(); print(before == dict(os.environ))",
    "path-and-argv": _F + "before = sys.path[:], sys.argv[:]; f(); print(before == (sys.path, sys.argv))",
    "umask": "os.umask(0o027)\n" + _F + "f(); print(oct(os.umask(0)))",
    "cwd": _F + "before = os.getcwd(); f(); print(before == os.getcwd())",
    "logging": "import logging\nlogging.basicConfig(level=0, stream=sys.stdout, format='%(name)s %(message)s')\n"
    + _F
    + "f(); logging.info('mine')",
    "warnings-as-errors": "import warnings\nwarnings.simplefilter('error')\n" + _CALL,
    "switch-interval": "sys.setswitchinterval(0.5)\n" + _F + "f(); print(sys.getswitchinterval())",
    "recursion-limit-kept": "sys.setrecursionlimit(500)\n" + _F + "f(); print(sys.getrecursionlimit())",
    "patched-clock": "time.time = time.sleep = lambda *a: 0\n" + _CALL,
    "patched-monotonic": "time.monotonic = time.perf_counter = lambda: 0.0\n" + _CALL,
    "patched-open": "import builtins\nreal = builtins.open\n"
    + _F
    + "builtins.open = None\nprint(f(1)); builtins.open = real",
    "patched-json": "import json\njson.dumps = json.loads = None\n" + _CALL,
    "patched-os": "os.kill = os.waitpid = os.fork = os.pipe = None\n" + _CALL,
    "int-digits": "sys.set_int_max_str_digits(640)\n" + _CALL,
    "async-hooks": "sys.set_coroutine_origin_tracking_depth(3)\n" + _CALL,
    "audit-hook": "hits = []\nsys.addaudithook(lambda e, a: hits.append(e) if e == 'mine' else None)\n"
    + _F
    + "f(); sys.audit('mine'); print(hits)",
    "reads-stdin": _F + "f(); print(input(), sys.stdin.read())",
}
_PLACES = {
    "chdir": _F + "f(); os.chdir('/'); print(f(1))",
    "removed-folder": "os.mkdir('gone'); os.chdir('gone'); os.rmdir('../gone')\n" + _CALL,
    "spool-removed": "import shutil\n"
    + _F
    + "f(); shutil.rmtree('.profkit', ignore_errors=True); print(f(1))",
    "no-environment": "os.environ.clear()\n" + _CALL,
    "chroot": _F + "f(); os.mkdir('root'); os.chroot('root'); print(f(1))",
    "chroot-before-calls": _F + "os.mkdir('root'); os.chroot('root'); print(f(1))",
    "changed-user": _F + "f(); os.setgid(65534); os.setuid(65534); print(f(1))",
    "changed-user-before-calls": _F + "os.setgid(65534); os.setuid(65534); print(f(1))",
    "little-memory": "import resource\n"
    + _F
    + "f(); n = int(open('/proc/self/statm', encoding='ascii').read().split()[0]) * 4096\n"
    "resource.setrlimit(resource.RLIMIT_AS, (n + (8 << 20), -1)); print(f(1))",
    "no-new-files": "import resource\n"
    + _F
    + "resource.setrlimit(resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))\nimport signal; signal.signal(25, signal.SIG_IGN)\nprint(f(1), flush=True)",
    "not-dumpable": "import ctypes\n" + _F + "ctypes.CDLL(None).prctl(4, 0); print(f(1))",
    "no-new-processes": "import resource\n"
    + _F
    + "f(); resource.setrlimit(resource.RLIMIT_NPROC, (0, 0)); print(f(1))",
}
_FLAGS = {
    "optimized": ("-O",), "no-docstrings": ("-OO",), "unbuffered": ("-u",), "isolated": ("-I",),
    "no-environment-variables": ("-E",), "safe-path": ("-P",), "no-bytecode": ("-B",), "utf8": ("-X", "utf8"),
    "dev": ("-X", "dev"), "errors": ("-W", "error"), "no-user-site": ("-s",),
    "default-encoding": ("-X", "warn_default_encoding", "-W", "error"), "bytes-warnings": ("-bb",),
    "frozen-off": ("-X", "frozen_modules=off"), "no-debug-ranges": ("-X", "no_debug_ranges"),
    "tracemalloc-flag": ("-X", "tracemalloc"), "faulthandler-flag": ("-X", "faulthandler"),
}  # fmt: skip
_ENVIRONS = {
    "c-locale": {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0"},
    "ascii-output": {"PYTHONIOENCODING": "ascii"},
    "hash-seed": {"PYTHONHASHSEED": "0"},
    "no-home": {"HOME": "/proc/nobody"},
    "malloc-debug": {"PYTHONMALLOC": "debug"},
}

SNIPPETS: dict[str, Snippet] = {
    **each(_INTERPRETER),
    **each({name: _INTERPRETER[name] for name in ("patched-open", "patched-json", "patched-os")}, warnings=1),
    "reads-stdin": Snippet(_INTERPRETER["reads-stdin"], stdin="first\nand the rest"),
    **each(_PLACES, SAMPLING, warnings=2),
    **{f"own-{name}": Snippet(_CALL, files={f"{name}.py": "mine = 1\n"}, warnings=1) for name in _SHADOWING},
    **{f"flags-{name}": Snippet(_CALL, flags) for name, flags in _FLAGS.items()},
    **{f"environ-{name}": Snippet(_CALL, environ=changes) for name, changes in _ENVIRONS.items()},
    **{f"as-{launch}": Snippet(_CALL, launch=launch) for launch in ("module", "zip", "stdin", "-c")},
    "as-bytes": Snippet(_CALL, launch="bytes", warnings=1),
}
