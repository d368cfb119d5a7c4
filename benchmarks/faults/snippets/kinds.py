# ruff: noqa: E501
"""Every kind of function, method and class that can be decorated."""

from __future__ import annotations

from benchmarks.faults.snippets.base import SAMPLING, Snippet, each

_TEXTS = {
    "method": "class C:\n    @P\n    def m(self, n): return (type(self).__name__, n)\nprint(C().m(1), C.m(C(), 2))",
    "classmethod": "class C:\n    @classmethod\n    @P\n    def m(cls): return cls.__name__\nprint(C.m(), C().m())",
    "staticmethod": "class C:\n    @staticmethod\n    @P\n    def m(n): return n\nprint(C.m(1), C().m(2))",
    "property": "class C:\n    @property\n    @P\n    def p(self): return 3\nprint(C().p)",
    "arguments": "@P\ndef f(a, /, b=2, *c, d, e=5, **g): return a, b, c, d, e, g\nprint(f(1, d=4), f(1, 2, 3, d=4, z=0))",
    "wrong-arguments": "@P\ndef f(a): return a\ntry: f()\nexcept TypeError as error: print(error)",
    "signature": "import inspect\n@P\ndef f(a: int, *, b: 'str' = 'x') -> float: 'Doc.'\n"
    "print(inspect.signature(f), f.__name__, f.__qualname__, f.__doc__, f.__module__)",
    "type-hints": "import typing\n@P\ndef f(a: int, b: 'str' = 'x') -> float: return 1.0\n"
    "print(typing.get_type_hints(f), f.__annotations__)",
    "singledispatch": "import functools\n@functools.singledispatch\ndef f(x): return 'any'\n@f.register\n@P\n"
    "def _(x: int): return 'int'\nprint(f(1), f('a'))",
    "lru-cache": "import functools\n@functools.lru_cache\n@P\ndef f(n): return n * n\nprint(f(2), f(2), f.cache_info())",
    "partial": "import functools\n@P\ndef f(a, b): return a - b\nprint(functools.partial(f, 5)(3))",
    "wraps": "import functools\ndef d(g):\n    @functools.wraps(g)\n    def w(*a): return g(*a)\n    return w\n"
    "@d\n@P\n@d\ndef f(n): return n\nprint(f(1), f.__wrapped__.__name__)",
    "pickle": "import pickle\n@P\ndef f(n): return n\nprint(pickle.loads(pickle.dumps(f))(3), pickle.loads(pickle.dumps(f)) is f)",
    "copy": "import copy\n@P\ndef f(n): return n\nprint(copy.copy(f)(1), copy.deepcopy(f)(2))",
    "weakref": "import weakref\n@P\ndef f(n): return n\nr = weakref.ref(f)\nprint(r()(1)); del f; import gc; gc.collect()",
    "dataclass": "import dataclasses\n@dataclasses.dataclass\nclass D:\n    a: int\n    @P\n    def m(self): return self.a\n"
    "print(D(3).m(), D(3) == D(3), dataclasses.asdict(D(4)))",
    "enum": "import enum\nclass E(enum.Enum):\n    A = 1\n    @P\n    def m(self): return self.value\nprint(E.A.m(), list(E))",
    "abstract": "import abc\nclass A(abc.ABC):\n    @abc.abstractmethod\n    def m(self): ...\nclass B(A):\n    @P\n"
    "    def m(self): return 1\nprint(B().m())\ntry: A()\nexcept TypeError as error: print('abstract')",
    "init-subclass": "class A:\n    @P\n    def __init_subclass__(cls, **kw): print('sub', cls.__name__)\nclass B(A): pass",
    "class-getitem": "class A:\n    @P\n    def __class_getitem__(cls, item): return (cls.__name__, item)\nprint(A[int])",
    "call-method": "class A:\n    @P\n    def __call__(self, n): return n + 1\nprint(A()(1), list(map(A(), (1, 2))))",
    "operators": "class A:\n    @P\n    def __add__(self, o): return 'sum'\n    @P\n    def __eq__(self, o): return True\n"
    "    __hash__ = object.__hash__\nprint(A() + 1, A() == 2)",
    "slots": "class A:\n    __slots__ = ('x',)\n    @P\n    def m(self): self.x = 1; return self.x\nprint(A().m())",
    "metaclass": "class M(type):\n    @P\n    def __call__(cls, *a): return super().__call__(*a)\nclass A(metaclass=M): pass\nprint(type(A()).__name__)",
    "closure": "def make(k):\n    @P\n    def f(n): return n * k\n    return f\nprint(make(2)(3), make(5)(3), make(2).__closure__ is not None)",
    "lambda": "f = P(lambda n: n + 1)\nprint(f(1), f.__name__)",
    "builtin-callables": "print(sorted([3, 1], key=P(lambda n: -n)), list(filter(P(lambda n: n > 1), (1, 2))))",
    "setattr": "@P\ndef f(n): return n\nf.mark = 5\nprint(f.mark, f.__dict__.get('mark'), f(1))",
    "defaults": "@P\ndef f(a=[]): a.append(1); return len(a)\nprint(f(), f(), f.__defaults__, f.__kwdefaults__)",
    "repeated": "@P\n@P\ndef f(n): return n\nprint(f(1))",
    "mutates": "@P\ndef f(values): values.sort(); return values\nkept = [3, 1, 2]\nprint(f(kept) is kept, kept)",
    "consumes": "@P\ndef f(items): return sum(items)\nit = iter([1, 2, 3]); print(f(it), list(it))",
    "argument-lifetime": "import weakref\nclass C: pass\n@P\ndef f(c): return 1\nc = C(); r = weakref.ref(c); f(c); del c\nprint(r() is None)",
    "result-lifetime": "import weakref\nclass C: pass\n@P\ndef f(): return C()\nc = f(); r = weakref.ref(c); del c\nprint(r() is None)",
    "many-calls": "@P\ndef f(n): return n\nprint(sum(f(n) for n in range(3000)))",
    "locals-and-globals": "x = 1\n@P\ndef f(): y = 2; return sorted(locals()), 'x' in globals()\nprint(f())",
    "unpicklable-argument": "import threading\n@P\ndef f(lock): return lock.locked()\nprint(f(threading.Lock()))",
}
_SAMPLED = {
    "generator": "@P\ndef g(n):\n    for i in range(n): yield i\nprint(list(g(3)), next(g(1)))",
    "generator-protocol": "@P\ndef g():\n    try: got = yield 1; print(got); yield 2\n    except ValueError: yield 'threw'\n"
    "    finally: print('closed')\na = g(); print(next(a), a.send('x')); a.close()\nb = g(); next(b); print(b.throw(ValueError)); b.close()",
    "generator-return": "@P\ndef g():\n    yield 1\n    return 'value'\ndef h(): print((yield from g()))\nprint(list(h()))",
    "generator-item-lifetime": "import weakref\nclass C: pass\n@P\ndef g():\n    yield C()\n    yield None\n"
    "a = g(); r = weakref.ref(next(a)); next(a); print(r() is None)",
    "coroutine": "import asyncio\n@P\nasync def f(n): await asyncio.sleep(0.01); return n\n"
    "async def m(): return await asyncio.gather(*map(f, range(5)))\nprint(asyncio.run(m()))",
    "async-generator": "import asyncio\n@P\nasync def g():\n    for i in range(3): yield i; await asyncio.sleep(0)\n"
    "async def m(): return [i async for i in g()]\nprint(asyncio.run(m()))",
    "async-cancel": "import asyncio\n@P\nasync def f(begun):\n    try: begun.set(); await asyncio.sleep(9)\n    except asyncio.CancelledError: print('cancelled'); raise\n"
    "async def m():\n    begun = asyncio.Event(); t = asyncio.create_task(f(begun)); await begun.wait(); t.cancel()\n    try: await t\n"
    "    except asyncio.CancelledError: print('seen')\nasyncio.run(m())",
    "async-timeout": "import asyncio\n@P\nasync def f(): await asyncio.sleep(9)\nasync def m():\n    try: await asyncio.wait_for(f(), 0.05)\n"
    "    except TimeoutError: print('timeout')\nasyncio.run(m())",
    "never-awaited": "import warnings\nwarnings.simplefilter('ignore')\n@P\nasync def f(): pass\nc = f(); print(type(c).__name__); c.close()",
    "is-generator-function": "import inspect\n@P\ndef g(): yield\n@P\nasync def c(): pass\n@P\nasync def a(): yield\n"
    "print(inspect.isgeneratorfunction(g), inspect.iscoroutinefunction(c), inspect.isasyncgenfunction(a))",
    "contextmanager": "import contextlib\n@contextlib.contextmanager\n@P\ndef c(): print('in'); yield 1; print('out')\nwith c() as n: print(n)",
    "block": "with profiled('b') as s: x = 1\nprint(x)",
    "nested-blocks": "with profiled('a'):\n    with profiled('b'):\n        print('inside')\nprint('outside')",
    "block-swallows-nothing": "try:\n    with profiled('b'): raise ValueError(1)\nexcept ValueError as error: print(error)",
    "loop-of-blocks": "for i in range(200):\n    with profiled('b'): i += 1\nprint(i)",
}

SNIPPETS: dict[str, Snippet] = {**each(_TEXTS), **each(_SAMPLED, SAMPLING)}
