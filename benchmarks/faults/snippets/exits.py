# ruff: noqa: E501
"""Programs that end in every way, and that raise."""

from __future__ import annotations

from benchmarks.faults.snippets.base import SAMPLING, Snippet, each

_IN_CALL = {
    "sys-exit-number": "sys.exit(5)",
    "sys-exit-zero": "sys.exit(0)",
    "sys-exit-none": "sys.exit()",
    "sys-exit-text": "sys.exit('text for stderr')",
    "sys-exit-large": "sys.exit(257)",
    "os-exit": "print('before', flush=True); os._exit(7)",
    "abort": "os.abort()",
    "raises": "raise LookupError('not found')",
    "raises-group": "raise ExceptionGroup('several', [ValueError(1), OSError(2)])",
    "raises-chained": "\n    try: 1 / 0\n    except ZeroDivisionError as error: raise ValueError('so') from error",
    "raises-with-note": "\n    error = ValueError('noted'); error.add_note('a note'); raise error",
    "raises-interrupt": "raise KeyboardInterrupt",
    "raises-memory-error": "raise MemoryError('as if')",
    "recurses": "return f()",
    "kills-itself": "print('before', flush=True); os.kill(os.getpid(), 15)",
    "interrupts-itself": "os.kill(os.getpid(), 2)",
    "hangs-up": "print('before', flush=True); os.kill(os.getpid(), 1)",
    "exec": "print('before', flush=True); os.execv('/bin/sh', ['sh', '-c', 'echo after; exit 4'])",
    "broken-pipe": "\n    r, w = os.pipe(); os.close(r); os.write(w, b'x')",
    "assertion": "assert 1 == 2, 'they differ'",
}
_TEXTS = {
    "falls-off": "@P\ndef f(): return 1\nprint(f(), f())",
    "atexit-calls": "@P\ndef f(n): return n\nimport atexit\natexit.register(lambda: print(f(2)))\nprint(f(1))",
    "atexit-raises": "@P\ndef f(n): return n\nimport atexit\natexit.register(lambda: 1 / 0)\nprint(f(1))",
    "excepthook": "sys.excepthook = lambda kind, error, trace: print('hook', error)\n@P\ndef f(): 1 / 0\nf()",
    "unraisable": "class C:\n    def __del__(self): raise ValueError('in del')\n@P\ndef f(): C()\nf()\nprint('on')",
    "finally": "@P\ndef f():\n    try: return 1\n    finally: print('finally')\nprint(f())",
    "exit-in-thread": "import threading\n@P\ndef f(): sys.exit(3)\n"
    "t = threading.Thread(target=f); t.start(); t.join(); print('on')",
    "raises-in-thread": "import threading\n@P\ndef f(): raise OSError('thread')\n"
    "t = threading.Thread(target=f, name='T'); t.start(); t.join(); print('on')",
    "caught": "@P\ndef f(n): return 1 / n\nfor n in (1, 0, 2):\n    try: print(f(n))\n"
    "    except ZeroDivisionError as error: print(error, error.__context__, error.__cause__)",
    "deep-recursion": "@P\ndef f(n): return f(n - 1) if n else 0\nprint(f(150))",
    "recursion-limit": "@P\ndef f(n): return f(n - 1) if n else 0\ntry: f(100_000)\n"
    "except RecursionError as error: print(type(error).__name__)",
    "finalizer-at-exit": "class C:\n    def __init__(self): self.me = self\n"
    "    def __del__(self, print=print): print('gone')\n@P\ndef f(): return C()\nkept = f()",
}
_SAMPLED = {
    "exit-in-generator": "@P\ndef g():\n    yield 1\n    sys.exit(6)\nprint(list(g()))",
    "exit-in-block": "with profiled('block'):\n    sys.exit(4)",
    "raise-in-block": "with profiled('block'):\n    1 / 0",
    "raise-in-async": "import asyncio\n@P\nasync def f(): raise LookupError('async')\nasyncio.run(f())",
}

SNIPPETS: dict[str, Snippet] = {
    **each({f"call-{name}": f"@P\ndef f(): {body}\nf()" for name, body in _IN_CALL.items()}),
    **each(_TEXTS),
    **each(_SAMPLED, SAMPLING),
}
