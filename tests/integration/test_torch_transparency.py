"""Decorated code behaves under PyTorch's compilers and tracers as if it were not decorated.

Each case is written once and built twice: with `profile()` and with a decorator that does nothing.
Results and the numbers of graphs (so of recompilations, too), operations and graph breaks have to
agree. Cases of coroutines that TorchDynamo itself compiles are left out: on Python 3.11 that corrupts
memory without any decorator, too.
"""

from __future__ import annotations

import functools
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from inspect import Signature, signature
from types import FunctionType
from typing import Any

import pytest
import torch
import torch._dynamo
from torch._dynamo.utils import counters
from torch.fx.experimental.proxy_tensor import make_fx

from profkit import profile, profiled
from profkit.model.notes import NoteCode

pytestmark = [pytest.mark.sampler, pytest.mark.filterwarnings("ignore::DeprecationWarning")]

Decorator = Callable[[Any], Any]
Values = list[torch.Tensor]
X = torch.arange(4.0)
SCALE = torch.tensor(2.0)


def undecorated(function: Any) -> Any:
    return function


class plain_block:
    def __init__(self, label: str) -> None:
        self.label = label

    def __enter__(self) -> plain_block:
        return self

    def __exit__(self, *error: object) -> None:
        return None


@dataclass
class Compiler:
    """torch.compile with a backend that runs graphs as they are and counts them."""

    graphs: list[torch.fx.GraphModule] = field(default_factory=list)

    def backend(self, graph: torch.fx.GraphModule, inputs: object) -> Callable[..., Any]:
        self.graphs.append(graph)
        return graph.forward

    def __call__(self, target: Any, **options: Any) -> Any:
        return torch.compile(target, backend=self.backend, **options)

    def numbers(self) -> dict[str, int]:
        nodes = [node for graph in self.graphs for node in graph.graph.nodes]
        return {
            "graphs": len(self.graphs),
            "operations": sum(node.op.startswith("call") for node in nodes),
            "breaks": sum(counters["graph_break"].values()),
        }


@pytest.fixture(autouse=True)
def fresh_dynamo() -> Iterator[None]:
    torch._dynamo.reset()
    counters.clear()
    yield
    torch._dynamo.reset()


def outcome(case: Callable[[Decorator, Compiler], Values], decorate: Decorator) -> Any:
    torch._dynamo.reset()
    counters.clear()
    torch.manual_seed(0)
    compiler = Compiler()
    values = [value.tolist() for value in case(decorate, compiler)]
    return values, compiler.numbers()


def agrees(case: Callable[..., Values]) -> Callable[..., None]:
    """Make a test of a case: decorated or not, it has the same outcome."""

    def test(_: object, **given: object) -> None:
        given_case = functools.partial(case, **given)
        assert outcome(given_case, profile()) == outcome(given_case, undecorated)

    itself, _ = signature(test).parameters.values()
    test.__signature__ = Signature([itself, *list(signature(case).parameters.values())[2:]])  # type: ignore[attr-defined]
    return test


def wave(decorate: Decorator) -> Any:
    @decorate
    def wave(x: torch.Tensor, factor: int = 1, *, shift: float = 0.5) -> torch.Tensor:
        return x.sin() * factor * SCALE + shift

    return wave


def closure(decorate: Decorator) -> Any:
    bias = torch.tensor(3.0)

    @decorate
    def shifted(x: torch.Tensor) -> torch.Tensor:
        return x + bias

    return shifted


class TestCompiledItself:
    @pytest.mark.parametrize("fullgraph", [False, True])
    @agrees
    def test_function(decorate: Decorator, compiler: Compiler, fullgraph: bool) -> Values:
        compiled = compiler(wave(decorate), fullgraph=fullgraph)
        return [compiled(X), compiled(X), compiled(X, 3, shift=1.0)]

    @agrees
    def test_as_decorators(decorate: Decorator, compiler: Compiler) -> Values:
        @compiler
        @decorate
        def outer(x: torch.Tensor) -> torch.Tensor:
            return x * 2

        return [outer(X), outer(X)]

    @agrees
    def test_graph_break_within(decorate: Decorator, compiler: Compiler) -> Values:
        @decorate
        def broken(x: torch.Tensor) -> torch.Tensor:
            y = x.sin()
            torch._dynamo.graph_break()
            return y + 1

        compiled = compiler(broken)
        return [compiled(X), compiled(X)]

    @agrees
    def test_recompilations(decorate: Decorator, compiler: Compiler) -> Values:
        compiled = compiler(wave(decorate))
        return [compiled(X), compiled(torch.ones(2, 3)), compiled(torch.ones(5)), compiled(X.double())]

    @agrees
    def test_recursion(decorate: Decorator, compiler: Compiler) -> Values:
        @decorate
        def power(x: torch.Tensor, n: int) -> torch.Tensor:
            return x if n == 0 else power(x * 2, n - 1)

        return [compiler(power, fullgraph=True)(X, 3)]

    def test_exception_passes(self) -> None:
        @profile()
        def refuse(x: torch.Tensor) -> torch.Tensor:
            raise LookupError("no")

        with pytest.raises(LookupError, match="no"):
            Compiler()(refuse)(X)

    @agrees
    def test_mutation_of_arguments(decorate: Decorator, compiler: Compiler) -> Values:
        @decorate
        def grow(x: torch.Tensor) -> None:
            x.add_(1)

        y = torch.zeros(2)
        compiled = compiler(grow, fullgraph=True)
        compiled(y)
        compiled(y)
        return [y]

    @pytest.mark.sampler
    @pytest.mark.slow
    def test_first_call_that_starts_a_session(self) -> None:
        # The session is started while TorchDynamo looks at every frame; none of profkit's may be compiled.
        code = (
            "import os, torch\nfrom torch._dynamo.utils import counters\nfrom profkit import profile\n"
            "@profile()\ndef f(x):\n    return x.sin() + 1\n"
            "fullgraph = os.fork() == 0\n"
            "g = torch.compile(f, backend='eager', fullgraph=fullgraph)\n"
            "assert torch.equal(g(torch.ones(3)), torch.ones(3).sin() + 1)\n"
            "assert counters['stats']['unique_graphs'] == 1, counters\n"
            "assert not counters['graph_break'], counters\nassert f.last_run.info.calls == 1\n"
            "assert fullgraph or os.wait()[1] == 0\n"
        )
        subprocess.run([sys.executable, "-c", code], check=True, timeout=120)

    def test_calls_are_seen(self) -> None:
        decorated = wave(profile(label="seen"))
        compiled = Compiler()(decorated, fullgraph=True)
        for _ in range(3):
            compiled(X)
        assert decorated.last_run.info.calls == 3
        assert decorated.last_run.info.traced_away == 0


class TestAboveCompiled:
    @agrees
    def test_results_and_calls(decorate: Decorator, compiler: Compiler) -> Values:
        function = decorate(compiler(wave(undecorated), fullgraph=True))
        return [function(X), function(X)]

    @agrees
    def test_within_another_compiled_function(decorate: Decorator, compiler: Compiler) -> Values:
        inner = decorate(compiler(wave(undecorated), fullgraph=True))
        outer = compiler(lambda x: inner(x) * 2, fullgraph=True)
        return [outer(X), outer(X)]


class TestWithinCompiled:
    @pytest.mark.parametrize("make", [wave, closure])
    @agrees
    def test_call(decorate: Decorator, compiler: Compiler, make: Callable[[Decorator], Any]) -> Values:
        function = make(decorate)
        outer = compiler(lambda x: function(x) + function(x + 1), fullgraph=True)
        return [outer(X), outer(X), outer(torch.ones(7))]

    @pytest.mark.parametrize(
        "use",
        [
            lambda f, x: functools.partial(f, factor=3)(x),
            lambda f, x: sum(map(f, [x, x + 1])),
            lambda f, x: {"a": f}["a"](x),
            lambda f, x: torch.func.vmap(f)(x.repeat(2, 1)),
            lambda f, x: torch.func.grad(lambda y: f(y).sum())(x),
            lambda f, x: torch.utils.checkpoint.checkpoint(f, x, use_reentrant=False),
            lambda f, x: torch.cond(x.sum() > 0, f, lambda y: y - 1, (x,)),
            lambda f, x: f(x) + len(f.__name__) + isinstance(f, FunctionType),
        ],
        ids=["partial", "map", "dict", "vmap", "grad", "checkpoint", "cond", "introspection"],
    )
    @agrees
    def test_use(decorate: Decorator, compiler: Compiler, use: Callable[..., torch.Tensor]) -> Values:
        function = wave(decorate)
        outer = compiler(lambda x: use(function, x), fullgraph=True)
        return [outer(X), outer(X)]

    @agrees
    def test_as_argument(decorate: Decorator, compiler: Compiler) -> Values:
        function = wave(decorate)
        outer = compiler(lambda f, x: f(x), fullgraph=True)
        return [outer(function, X), outer(function, X)]

    @agrees
    def test_changed_closure_and_defaults_are_noticed(decorate: Decorator, compiler: Compiler) -> Values:
        count = 0

        @decorate
        def counted(x: torch.Tensor, k: int = 2) -> torch.Tensor:
            nonlocal count
            count += 1
            return x * count * k

        outer = compiler(lambda x: counted(x))
        before = [outer(X), outer(X), outer(X)]
        counted.__defaults__ = (5,)
        return [*before, outer(X)]

    @agrees
    def test_graph_break_within(decorate: Decorator, compiler: Compiler) -> Values:
        @decorate
        def broken(x: torch.Tensor) -> torch.Tensor:
            y = x.sin()
            torch._dynamo.graph_break()
            return y + 1

        outer = compiler(lambda x: broken(x) * 2)
        return [outer(X), outer(X)]

    @agrees
    def test_other_decorators(decorate: Decorator, compiler: Compiler) -> Values:
        @decorate
        @torch.no_grad()
        def below(x: torch.Tensor) -> torch.Tensor:
            return x * 2

        @torch.no_grad()
        @decorate
        def above(x: torch.Tensor) -> torch.Tensor:
            return x * 3

        inner = wave(decorate)

        @functools.wraps(inner)
        def hundred_more(*args: Any, **kwargs: Any) -> Any:
            return inner(*args, **kwargs) + 100

        twice = decorate(wave(decorate))
        outer = compiler(lambda x: below(x) + above(x) + hundred_more(x) + twice(x), fullgraph=True)
        return [outer(X), outer(X)]

    @pytest.mark.parametrize("below", [False, True])
    @agrees
    def test_compiler_disable(decorate: Decorator, compiler: Compiler, below: bool) -> Values:
        disable = torch.compiler.disable
        function = decorate(disable(wave(undecorated))) if below else disable(wave(decorate))
        outer = compiler(lambda x: function(x) + 1)
        return [outer(X), outer(X)]

    @agrees
    def test_generator(decorate: Decorator, compiler: Compiler) -> Values:
        @decorate
        def steps(x: torch.Tensor) -> Iterator[torch.Tensor]:
            for i in range(3):
                yield x + i

        outer = compiler(lambda x: sum(steps(x)), fullgraph=True)
        return [outer(X), outer(X)]

    def test_explain(self) -> None:
        def numbers(decorate: Decorator) -> tuple[int, int, int]:
            function = wave(decorate)

            def outer(x: torch.Tensor) -> torch.Tensor:
                torch._dynamo.graph_break()
                return function(x)

            told = torch._dynamo.explain(outer)(X)
            return told.graph_count, told.graph_break_count, told.op_count

        assert numbers(profile()) == numbers(undecorated)

    def test_traced_away_is_reported(self) -> None:
        decorated = wave(profile(label="traced away"))
        outer = Compiler()(lambda x: decorated(x), fullgraph=True)
        for _ in range(5):
            outer(X)
        decorated(X)
        assert decorated.last_run.info.calls == 1
        assert decorated.last_run.info.traced_away == 1


def shapes(decorate: Decorator) -> Any:
    offset = torch.tensor(1.0)

    class Shape:
        gain = 5

        def __init__(self, width: float = 3.0) -> None:
            self.width = width

        @decorate
        def scale(self, x: torch.Tensor, k: int = 2) -> torch.Tensor:
            return x * self.width * k + offset

        @decorate
        @staticmethod
        def above_static(x: torch.Tensor, k: int = 2) -> torch.Tensor:
            return x + k + offset

        @staticmethod
        @decorate
        def below_static(x: torch.Tensor, k: int = 2) -> torch.Tensor:
            return x + k + offset

        @decorate
        @classmethod
        def above_class(cls, x: torch.Tensor, k: int = 2) -> torch.Tensor:
            return x + cls.gain + k + offset

        @classmethod
        @decorate
        def below_class(cls, x: torch.Tensor, k: int = 2) -> torch.Tensor:
            return x + cls.gain + k + offset

        @property
        @decorate
        def area(self) -> float:
            return self.width * 2

        @decorate
        def __call__(self, x: torch.Tensor, k: int = 2) -> torch.Tensor:
            return x - self.width * k + offset

    class Wide(Shape):
        @decorate
        def scale(self, x: torch.Tensor, k: int = 2) -> torch.Tensor:
            return super().scale(x, k) + super().scale(x) + 1

        @classmethod
        @decorate
        def below_class(cls, x: torch.Tensor, k: int = 2) -> torch.Tensor:
            return super().below_class(x) * 2

    return Shape, Wide


class TestMethodsWithinCompiled:
    @pytest.mark.parametrize(
        "call",
        [
            lambda s, x: s.scale(x),
            lambda s, x: type(s).scale(s, x, k=3),
            lambda s, x: s.above_static(x) + type(s).above_static(x),
            lambda s, x: s.below_static(x) + type(s).below_static(x),
            lambda s, x: s.above_class(x) + type(s).above_class(x),
            lambda s, x: s.below_class(x) + type(s).below_class(x),
            lambda s, x: x + s.area,
            lambda s, x: s(x),
            lambda s, x: [s.scale, s.above_static][0](x),
        ],
        ids=["method", "unbound", "static 1", "static 2", "class 1", "class 2", "property", "call", "list"],
    )
    @pytest.mark.parametrize("derived", [False, True])
    @agrees
    def test_call(
        decorate: Decorator,
        compiler: Compiler,
        call: Callable[[Any, torch.Tensor], torch.Tensor],
        derived: bool,
    ) -> Values:
        shape = shapes(decorate)[derived]()
        outer = compiler(lambda x: call(shape, x), fullgraph=True)
        return [outer(X), outer(X)]

    @pytest.mark.parametrize("name", ["scale", "above_static", "below_static", "above_class", "__call__"])
    @agrees
    def test_compiled_method(decorate: Decorator, compiler: Compiler, name: str) -> Values:
        compiled = compiler(getattr(shapes(decorate)[0](), name), fullgraph=True)
        return [compiled(X), compiled(X)]

    @agrees
    def test_compiled_callable(decorate: Decorator, compiler: Compiler) -> Values:
        return [compiler(shapes(decorate)[1](), fullgraph=True)(X)]

    @agrees
    def test_bound_method_from_outside(decorate: Decorator, compiler: Compiler) -> Values:
        bound = shapes(decorate)[0]().scale
        by_closure = compiler(lambda x: bound(x), fullgraph=True)
        by_argument = compiler(lambda f, x: f(x), fullgraph=True)
        return [by_closure(X), by_argument(bound, X)]


def modules(decorate: Decorator) -> Any:
    class Layer(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = torch.nn.Parameter(torch.ones(4))

        @decorate
        def forward(self, x: torch.Tensor, k: int = 2) -> torch.Tensor:
            return x * self.weight * k

        @decorate
        def encode(self, x: torch.Tensor) -> torch.Tensor:
            return x * self.weight - 1

    class Doubled(Layer):
        @decorate
        def forward(self, x: torch.Tensor, k: int = 3) -> torch.Tensor:
            return super().forward(x) + super().forward(x, k)

    class Net(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first, self.second = Layer(), Doubled()
            self.rest = torch.nn.Sequential(Layer(), torch.nn.ReLU())

        @decorate
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.rest(self.second(self.first(x))) + self.first.encode(x)

    class Outer(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.net = Net()

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.net(x) + 1

    return {"Layer": Layer, "Doubled": Doubled, "Net": Net, "Outer": Outer}


NAMES = ["Layer", "Doubled", "Net", "Outer"]


class TestModules:
    @pytest.mark.parametrize("fullgraph", [False, True])
    @pytest.mark.parametrize("name", NAMES)
    @agrees
    def test_torch_compile(decorate: Decorator, compiler: Compiler, name: str, fullgraph: bool) -> Values:
        compiled = compiler(modules(decorate)[name](), fullgraph=fullgraph)
        return [compiled(X), compiled(X)]

    @pytest.mark.parametrize("name", NAMES)
    @agrees
    def test_module_compile(decorate: Decorator, compiler: Compiler, name: str) -> Values:
        module = modules(decorate)[name]()
        module.compile(backend=compiler.backend, fullgraph=True)
        return [module(X), module(X)]

    @pytest.mark.slow
    @agrees
    def test_backward_through_aot_autograd(decorate: Decorator, compiler: Compiler) -> Values:
        module = modules(decorate)["Net"]()
        compiled = torch.compile(module, backend="aot_eager", fullgraph=True)
        compiled(X).sum().backward()
        return [parameter.grad for parameter in module.parameters() if parameter.grad is not None]

    @agrees
    def test_hooks(decorate: Decorator, compiler: Compiler) -> Values:
        module = modules(decorate)["Net"]()
        module.first.register_forward_hook(lambda module, inputs, output: output * 2)
        return [compiler(module, fullgraph=True)(X)]

    @agrees
    def test_forward_replaced_on_the_instance(decorate: Decorator, compiler: Compiler) -> Values:
        module = torch.nn.Linear(4, 4)
        module.forward = decorate(module.forward)  # type: ignore[method-assign]
        compiled = compiler(module, fullgraph=True)
        return [compiled(X), compiled(X)]

    @agrees
    def test_forward_compiled_by_itself(decorate: Decorator, compiler: Compiler) -> Values:
        module = modules(decorate)["Net"]()
        module.forward = compiler(module.forward, fullgraph=True)
        return [module(X), module(X)]

    @agrees
    def test_functional_call(decorate: Decorator, compiler: Compiler) -> Values:
        module = modules(decorate)["Net"]()
        outer = compiler(lambda p, x: torch.func.functional_call(module, p, (x,)), fullgraph=True)
        return [outer(dict(module.named_parameters()), X)]


class TestExport:
    @pytest.mark.parametrize("strict", [False, True])
    @pytest.mark.parametrize("name", NAMES)
    def test_same_graph(self, name: str, strict: bool) -> None:
        def exported(decorate: Decorator) -> tuple[list[float], list[str]]:
            program = torch.export.export(modules(decorate)[name](), (X,), strict=strict)
            return program.module()(X).tolist(), [str(node.target) for node in program.graph.nodes]

        assert exported(profile()) == exported(undecorated)

    @pytest.mark.parametrize("strict", [False, True])
    def test_dynamic_shapes(self, strict: bool) -> None:
        module = modules(profile())["Doubled"]()
        rows = torch.export.Dim("rows")
        program = torch.export.export(module, (torch.ones(3, 4),), strict=strict, dynamic_shapes=({0: rows},))
        assert torch.equal(program.module()(torch.ones(9, 4)), module(torch.ones(9, 4)))


@profile()
def typed(x: torch.Tensor, n: int = 2) -> torch.Tensor:
    if n > 1:
        return x.sin() * n
    return x


@profile()
def calls_typed(x: torch.Tensor) -> torch.Tensor:
    return typed(x) + typed(x, 1)


class Scripted(torch.nn.Module):
    @profile()
    def forward(self, x: torch.Tensor, n: int = 3) -> torch.Tensor:
        if n > 2:
            return self.helper(x)
        return calls_typed(x)

    @profile()
    def helper(self, x: torch.Tensor) -> torch.Tensor:
        return x * 2

    @torch.jit.export
    @profile()
    def more(self, x: torch.Tensor) -> torch.Tensor:
        return x + 1

    @torch.jit.ignore
    @profile()
    def ignored(self, x: torch.Tensor) -> torch.Tensor:
        return x


class TestJit:
    @pytest.mark.parametrize("function", [typed, calls_typed])
    def test_script_function(self, function: Any) -> None:
        assert torch.equal(torch.jit.script(function)(X), function.__wrapped__(X))

    def test_script_module(self) -> None:
        module, scripted = Scripted(), torch.jit.script(Scripted())
        assert torch.equal(scripted(X), module(X))
        assert torch.equal(scripted(X, 1), module(X, 1))
        assert torch.equal(scripted.more(X), X + 1)

    @pytest.mark.parametrize("target", [typed, calls_typed])
    def test_trace_function(self, target: Any) -> None:
        traced = torch.jit.trace(target, (X,))
        assert torch.equal(traced(X + 1), target.__wrapped__(X + 1))

    def test_trace_module(self) -> None:
        module = modules(profile())["Net"]()
        assert torch.equal(torch.jit.trace(module, (X,))(X + 1), module(X + 1))

    def test_above_scripted_and_traced(self) -> None:
        scripted = profile(label="scripted")(torch.jit.script(typed.__wrapped__))
        traced = profile(label="traced")(torch.jit.trace(typed.__wrapped__, (X,)))
        assert torch.equal(scripted(X), typed(X))
        assert torch.equal(traced(X), typed(X))

    def test_traced_away_is_reported(self) -> None:
        @profile()
        def told(x: torch.Tensor) -> torch.Tensor:
            return x * 2

        scripted = torch.jit.script(told)
        scripted(X)
        told(X)
        assert told.last_run.info.calls == 1
        assert told.last_run.info.traced_away >= 1


class TestOtherTracers:
    @pytest.mark.parametrize(
        "trace",
        [torch.fx.symbolic_trace, lambda f: make_fx(lambda x: f(x))(X)],
        ids=["symbolic_trace", "make_fx"],
    )
    def test_same_graph(self, trace: Callable[[Any], torch.fx.GraphModule]) -> None:
        def traced(decorate: Decorator) -> tuple[list[float], list[str]]:
            graph = trace(wave(decorate))
            return graph(X).tolist(), [str(node.target) for node in graph.graph.nodes]

        assert traced(profile()) == traced(undecorated)

    def test_symbolic_trace_of_module(self) -> None:
        def traced(decorate: Decorator) -> tuple[list[float], list[str]]:
            graph = torch.fx.symbolic_trace(modules(decorate)["Net"]())
            return graph(X).tolist(), [str(node.target) for node in graph.graph.nodes]

        assert traced(profile()) == traced(undecorated)

    @agrees
    def test_func_transforms(decorate: Decorator, compiler: Compiler) -> Values:
        function = wave(decorate)
        return [
            torch.func.vmap(function)(torch.ones(3, 4)),
            torch.func.grad(lambda x: function(x).sum())(X),
            torch.func.jacrev(function)(X),
        ]


def block(x: torch.Tensor, make: Any) -> torch.Tensor:
    with make("block"):
        y = x * 2
    return y + 1


def in_a_loop(x: torch.Tensor, make: Any) -> torch.Tensor:
    for i in range(2):
        with make("block"):
            x = x + i
    return x


def with_a_graph_break(x: torch.Tensor, make: Any) -> torch.Tensor:
    with make("block"):
        y = x * 2
        torch._dynamo.graph_break()
        y += 1
    return y


class TestBlocks:
    """A `profiled()` block in compiled code is what any traceable context manager is there."""

    @pytest.mark.parametrize("body", [block, in_a_loop, with_a_graph_break])
    def test_compiled(self, body: Any) -> None:
        def numbers(make: Any) -> Any:
            torch._dynamo.reset()
            counters.clear()
            compiler = Compiler()
            compiled = compiler(lambda x: body(x, make))
            return [compiled(X).tolist(), compiled(X).tolist()], compiler.numbers()

        assert numbers(profiled) == numbers(plain_block)

    @pytest.mark.parametrize("body", [block, in_a_loop])
    def test_fullgraph(self, body: Any) -> None:
        compiled = Compiler()(lambda x: body(x, profiled), fullgraph=True)
        assert torch.equal(compiled(X), body(X, plain_block))

    @pytest.mark.parametrize("strict", [False, True])
    def test_export(self, strict: bool) -> None:
        class Module(torch.nn.Module):
            def forward(self, x: torch.Tensor) -> torch.Tensor:
                with profiled("block"):
                    return x * 2

        assert torch.equal(torch.export.export(Module(), (X,), strict=strict).module()(X), X * 2)


def test_profkit_imports_no_torch() -> None:
    code = (
        "import sys\nfrom profkit import profile, profiled\n@profile()\ndef f(): return 1\n"
        "class A:\n    @profile()\n    def m(self): return f()\nA().m()\nwith profiled('b'): f()\n"
        "assert 'torch' not in sys.modules and 'torch._dynamo' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


@pytest.mark.slow
def test_torch_first_then_profkit() -> None:
    """The hook also works where TorchDynamo was there before profkit."""
    code = (
        "import torch, torch._dynamo\nfrom torch._dynamo.utils import counters\nfrom profkit import profile\n"
        "@profile()\ndef f(x): return x + 1\n"
        "torch.compile(f, backend='eager', fullgraph=True)(torch.ones(2))\n"
        "assert counters['stats']['unique_graphs'] == 1 and not counters['graph_break'], counters\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)


def test_a_region_that_is_only_compiled_has_a_run_that_says_so() -> None:
    @profile(label="traced")
    def inner(x: torch.Tensor) -> torch.Tensor:
        return x + 1

    @profile(label="outer")
    def outer(x: torch.Tensor) -> torch.Tensor:
        compiled = torch.compile(lambda y: inner(y) * 2, backend="eager", fullgraph=True)
        return compiled(x)

    assert torch.equal(outer(X), (X + 1) * 2)
    run = inner.last_run
    assert run is not None
    assert (run.info.calls, run.info.traced_away) == (0, 1)
    assert any(note.code is NoteCode.CALLS_COMPILED for note in run.info.notes)
