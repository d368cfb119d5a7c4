"""Seven statements for judging counts."""

from __future__ import annotations

from dataclasses import dataclass

_USER_FUNCTION = """
import torch
def normalise(batch, weight, eps=1e-6):
    centred = batch - batch.mean(dim=0)
    scale = (centred * centred).mean(dim=0).add(eps).rsqrt()
    return [centred * scale * weight for _ in range(3)]
batch, weight = torch.ones(16, 8), torch.ones(8)
"""


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement with its setup."""

    label: str
    stmt: str
    setup: str = ""


STATEMENTS = (
    Statement("x + y", "x + y", "import torch; x = torch.ones(64); y = torch.ones(64)"),
    Statement("list comprehension", "[i * i for i in range(50)]"),
    Statement("str.split", "s.split(',')", "s = 'a,b,c,d,e,f,g,h'"),
    Statement("np.add", "np.add(a, b)", "import numpy as np; a = np.ones(64); b = np.ones(64)"),
    Statement(
        "Linear forward + backward",
        "model(batch).sum().backward()",
        "import torch; model = torch.nn.Linear(16, 4); batch = torch.ones(8, 16)",
    ),
    Statement("64×64 matmul", "a @ b", "import torch; a = torch.ones(64, 64); b = torch.ones(64, 64)"),
    Statement("user function", "normalise(batch, weight)", _USER_FUNCTION),
)
