"""Program text: what torch makes of a function whose graph breaks."""

from __future__ import annotations

GRAPHS = """
from torch._dynamo.utils import counters

def broken(x):
    y = x.sin()
    torch._dynamo.graph_break()
    return y + 1

def numbers():
    torch._dynamo.reset()
    counters.clear()
    graphs = []
    def backend(graph, inputs):
        graphs.append(graph.code)
        return graph.forward
    assert torch.equal(torch.compile(broken, backend=backend)(ones), ones.sin() + 1)
    return graphs, sum(counters["graph_break"].values()), dict(counters["frames"])
"""
"""Defines `numbers`, which compiles the function anew; needs `torch`, and `ones` of four elements."""
