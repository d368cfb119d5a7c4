"""A large suite: operators of torch as Python and C++, eager and TorchScript, forward and backward.

To measure the whole suite, or to try a part of it:

    profkit measure examples/operator_suite.py --mode timer+callgrind --json > suite.json
    python examples/operator_suite.py

C++ is compiled once and cached. Instructions are counted with one thread; with more, statements are timed.
"""

from __future__ import annotations

import sys

from profkit import Variants, expand, measure_all

MATRICES = {
    "python": """
        import torch
        torch.manual_seed(20)
        a, b = torch.rand(4, 4), torch.ones(4, 4)
        column = torch.ones(4, 1)
        whole = torch.ones(4, 4, dtype=torch.int32)
        turned = torch.rand(4, 4).t()
    """,
    "c++": """
        at::manual_seed(20);
        auto a = at::rand({4, 4}), b = at::ones({4, 4});
        auto column = at::ones({4, 1});
        auto whole = at::ones({4, 4}, at::kInt);
        auto turned = at::rand({4, 4}).t();
    """,
}
CELLS = {
    "python": """
        import torch
        torch.manual_seed(21)
        cell, other = torch.randn(1, 1, 1), torch.randn(1, 1, 1)
        rows, chosen = torch.zeros(100, 100), torch.arange(100).flip(0)
    """,
    "c++": """
        using namespace at::indexing;
        at::manual_seed(21);
        auto cell = at::randn({1, 1, 1}), other = at::randn({1, 1, 1});
        auto rows = at::zeros({100, 100}), chosen = at::arange(100).flip(0);
    """,
}
LAYER = {
    "python": """
        import torch
        x, y = torch.ones(8), torch.full((8,), 2.0)
        scale, slope, mix = (torch.ones(size, requires_grad=True) for size in (8, 1, 16))
    """,
    "c++": """
        auto x = at::ones({8}), y = at::full({8}, 2.0);
        auto scale = at::ones({8}), slope = at::ones({1}), mix = at::ones({16});
        for (auto weight : {scale, slope, mix}) weight.requires_grad_(true);
    """,
}
OPTIONS = {
    "python": "import torch",
    "c++": "auto plain = at::TensorOptions(); auto full = plain.dtype(at::kFloat).device(at::kCPU);",
}
INFERENCE = {"c++": "auto trained = at::ones({3, 3}); c10::InferenceMode guard; auto x = at::ones({3, 3});"}


def each(setup: dict[str, str], **rows: tuple[str | None, str]) -> dict[str, Variants]:
    """Return an entry for each row, a pair of statements in Python and C++."""
    return {
        name.replace("_", " ").strip(): Variants(python=python, cpp=cpp, setup=setup)
        for name, (python, cpp) in rows.items()
    }


def operators(symbol: str, name: str) -> dict[str, Variants]:
    """Return a binary operator in place, out of place, as a function, and for several kinds of operands."""
    return each(
        MATRICES,
        scalar_in_place=(f"a {symbol}= 1.0", f"a {symbol}= 1.0;"),
        tensor_in_place=(f"a {symbol}= b", f"a {symbol}= b;"),
        broadcast_in_place=(f"a {symbol}= column", f"a {symbol}= column;"),
        promoted_in_place=(f"a {symbol}= whole", f"a {symbol}= whole;"),
        tensor=(f"a {symbol} b", f"a {symbol} b;"),
        function=(f"torch.{name}(a, b)", f"at::{name}(a, b);"),
        out=(f"torch.{name}(a, b, out=a)", f"at::{name}_out(a, a, b);"),
    )


def indexed(**indices: tuple[str, str]) -> dict[str, dict[str, Variants]]:
    """Return assignments of a number and of a tensor, for each index in Python and C++."""
    return {
        name.replace("_", " "): each(
            CELLS,
            number=(f"cell[{python}] = 1", f"cell.index_put_({cpp}, 1);"),
            tensor=(f"cell[{python}] = other[{python}]", f"cell.index_put_({cpp}, other.index({cpp}));"),
        )
        for name, (python, cpp) in indices.items()
    }


def module(made: str, *shape: int, cpp: str = "", script: bool = True) -> Variants:
    """Return a module of torch.nn; `cpp` is its constructor in C++, if that differs."""
    sizes = ", ".join(map(str, shape))
    return Variants(
        model={"python": f"model = torch.nn.{made}", "c++": f"auto model = torch::nn::{cpp or made};"},
        setup={
            "python": f"import torch\nx = torch.ones({sizes})",
            "c++": f"auto x = torch::ones({{{sizes}}});",
        },
        signature="f(x) -> y",
        script=script,
    )


ORDERS = {
    "Creation": {
        **each(
            OPTIONS,
            empty=("torch.empty(0)", "at::empty({0});"),
            one_element=("torch.empty(1)", "at::empty({1});"),
        ),
        "overloads": each(
            OPTIONS,
            plain_options=(None, "at::empty({0}, plain);"),
            full_options=(None, "at::empty({0}, full);"),
            converted_options=(None, "at::empty({0}, at::kFloat);"),
            no_options=(None, "at::empty({0}, {}, {}, {}, {}, {});"),
            one_option=(None, "at::empty({0}, at::kFloat, {}, {}, {}, {});"),
        ),
    },
    ("Pointwise", "Math"): {
        "add": operators("+", "add"),
        "multiply": operators("*", "mul"),
        "equality": each(MATRICES, tensor=("a == b", "a == b;"), scalar=("a == 1.0", "a == 1.0;")),
        ("add", "whole function"): Variants(
            python="a += b", cpp="a += b;", setup=MATRICES, signature="f(a, b) -> None", script=True
        ),
    },
    ("Pointwise", "Data movement"): each(
        MATRICES,
        contiguous_already=("a.contiguous()", "a.contiguous();"),
        contiguous_by_copy=("turned.contiguous()", "turned.contiguous();"),
        clone=("a.clone()", "a.clone();"),
        copy_=("a.copy_(b)", "a.copy_(b);"),
        zero_=("a.zero_()", "a.zero_();"),
        random=("a.uniform_()", "a.uniform_();"),
    ),
    "Reduction": each(
        MATRICES,
        max=("a.max()", "a.max();"),
        sum=("a.sum()", "a.sum();"),
        variance=("a.var(0)", "a.var(0);"),
    ),
    "Indexing": {
        "one index": indexed(one=("0", "{0}"), two=("0, 0", "{0, 0}"), three=("0, 0, 0", "{0, 0, 0}")),
        "special": indexed(
            ellipsis=("...", "{Ellipsis}"),
            slice=(":", "{Slice()}"),
            none=("None", "{None}"),
            false=("False", "{false}"),
            true=("True", "{true}"),
        ),
        "by tensor": Variants(
            python="rows[chosen, ...] = 1",
            cpp="rows.index_put_({chosen, Ellipsis}, 1);",
            setup=CELLS,
            signature="f(rows, chosen) -> None",
            script=True,
        ),
    },
    "Metadata and views": each(
        MATRICES,
        size=("a.size()[0]", "profkit::keep(a.sizes()[0]);"),
        stride=("a.stride(0)", "profkit::keep(a.stride(0));"),
        as_strided=("torch.as_strided(a, (2, 3), (4, 1), 2)", "at::as_strided(a, {2, 3}, {4, 1}, 2);"),
        select=("a.select(1, 1)", "a.select(1, 1);"),
        unsqueeze=("a.unsqueeze(0)", "a.unsqueeze(0);"),
        view=("a.view(-1, 1)", "a.view({-1, 1});"),
        transpose=("a.t()", "a.t();"),
        reshape=("a.reshape(16, 1)", "a.reshape({16, 1});"),
    ),
    "Matrix product": each(
        MATRICES,
        matmul=("torch.matmul(a, b)", "at::matmul(a, b);"),
        mm=("torch.mm(a, b)", "at::mm(a, b);"),
    ),
    "Sorting": each(MATRICES, sort=("torch.sort(a)", "at::sort(a);")),
    "Modules": {
        "BatchNorm2d": module("BatchNorm2d(4)", 4, 4, 4, 4),
        "GroupNorm": module("GroupNorm(2, 4)", 4, 4, 4, 4),
        "LayerNorm": module("LayerNorm(4)", 4, 4, cpp="LayerNorm(torch::nn::LayerNormOptions({4}))"),
        "Conv1d": module("Conv1d(4, 4, 1)", 4, 4, 4),
        "Conv2d": module("Conv2d(4, 4, 1)", 4, 4, 4, 4),
        "MaxPool2d": module("MaxPool2d(2)", 4, 4, 4, 4),
        "ReLU": module("ReLU()", 4, 4),
        "Sigmoid": module("Sigmoid()", 4, 4),
        "Linear": module("Linear(4, 2)", 4, 4),
        "LSTM": module("LSTM(4, 2)", 4, 4, 4, script=False),
    },
    "Training": {
        "one layer": Variants(
            python="z = torch.relu(x * scale)",
            cpp="auto z = at::relu(x * scale);",
            setup=LAYER,
            signature="f(x, scale) -> z",
            requires_grad=("scale",),
            num_threads=(1, 2),
            autograd=True,
            script=True,
        ),
        "two branches": Variants(
            python="""
                joined = torch.cat([torch.sigmoid(x * scale), torch.prelu(y, slope)])
                z = (joined / joined.norm()).dot(mix)
            """,
            cpp="""
                auto joined = at::cat({at::sigmoid(x * scale), at::prelu(y, slope)});
                auto z = (joined / joined.norm()).dot(mix);
            """,
            setup=LAYER,
            signature="f(x, y, scale, slope, mix) -> z",
            requires_grad=("scale", "slope", "mix"),
            num_threads=(1, 2),
            autograd=True,
            script=True,
        ),
    },
    "Inference mode": each(
        INFERENCE,
        view=(None, "x.view({9});"),
        in_place=(None, "x.mul_(x);"),
        mixed=(None, "x + trained;"),
    ),
}

if __name__ == "__main__":
    some = {"Reduction": ORDERS["Reduction"], "Modules": {"ReLU": ORDERS["Modules"]["ReLU"]}}
    orders = [order for order in expand(some, quick=True) if order.language.value == "python"]
    for run in measure_all(orders, progress=sys.stderr):
        labels = ", ".join(value for _, value in run.info.order.labels)
        print(f"{run.info.label} ({labels}): {run.info.median_s:.3g} s")
