"""Process documents, and collect garbage after each one to keep memory low."""

import gc
from time import perf_counter

from benchmarks.answers import truth


class Node:
    """A node of a document's tree, which knows its parent."""

    def __init__(self, parent: "Node | None") -> None:
        self.parent, self.children = parent, list["Node"]()
        if parent is not None:
            parent.children.append(self)


def parse(size: int) -> Node:
    root = Node(None)
    for _ in range(size):
        Node(root)
    return root


cache = [parse(2_000) for _ in range(100)]
end_s, documents = perf_counter() + truth.SECONDS, 0
while perf_counter() < end_s:
    document = parse(500)
    documents += len(document.children) > 0
    with truth.planted:
        gc.collect()  # PLANTED
print(documents, "documents")
