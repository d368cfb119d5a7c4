"""24 statements that do the same each time, for `profkit measure`."""

from __future__ import annotations

from profkit import Variants

_TORCH = "import torch; x = torch.ones(64); y = torch.ones(64)"
_NUMPY = "import numpy as np; a = np.arange(64.0); b = np.arange(64.0)[::-1].copy()"

ORDERS = {
    "python": {
        "split": Variants(python="text.split(',')", setup="text = 'a,b,c,d,e,f,g,h'"),
        "comprehension": Variants(python="[i * i for i in range(50)]"),
        "dictionary": Variants(
            python="{key: len(key) for key in keys}", setup="keys = ['a', 'bb', 'ccc'] * 9"
        ),
        "set": Variants(python="{n % 7 for n in numbers}", setup="numbers = list(range(90))"),
        "sorted": Variants(python="sorted(numbers)", setup="numbers = [n * 37 % 101 for n in range(100)]"),
        "sort in place": Variants(
            python="numbers.sort()", setup="numbers = [n * 37 % 101 for n in range(100)]"
        ),
        "append": Variants(python="kept.append(1)", setup="kept = []"),
        "json": Variants(
            python="json.dumps(value)", setup="import json; value = {'a': [1, 2.5, None], 'b': 'text'}"
        ),
        "expression": Variants(
            python="pattern.findall(text)",
            setup="import re; pattern = re.compile(r'\\w+'); text = 'a few words'",
        ),
        "format": Variants(python="f'{number:,.2f} {name}'", setup="number = 12345.678; name = 'total'"),
        "deque": Variants(
            python="queue.append(queue.popleft())",
            setup="import collections; queue = collections.deque(range(30))",
        ),
        "call": Variants(python="add(1, b=2)", setup="def add(a, *, b): return a + b"),
    },
    "numpy": {
        "add": Variants(python="a + b", setup=_NUMPY),
        "sort": Variants(python="np.sort(b)", setup=_NUMPY),
        "in place": Variants(python="b.sort()", setup=_NUMPY),
        "sum": Variants(python="a.sum()", setup=_NUMPY),
        "product": Variants(python="m @ m", setup="import numpy as np; m = np.ones((8, 8))"),
        "index": Variants(python="a[a > 3]", setup=_NUMPY),
    },
    "torch": {
        "add": Variants(python="x + y", setup=_TORCH),
        "in place": Variants(python="x.add_(y)", setup=_TORCH),
        "product": Variants(python="m @ m", setup="import torch; m = torch.ones(16, 16)"),
        "random": Variants(python="torch.rand(64)", setup="import torch"),
        "linear": Variants(
            python="model(batch)",
            setup="import torch; model = torch.nn.Linear(8, 8); batch = torch.ones(4, 8)",
        ),
        "backward": Variants(
            python="(w * 2).sum().backward()", setup="import torch; w = torch.ones(16, requires_grad=True)"
        ),
    },
}
