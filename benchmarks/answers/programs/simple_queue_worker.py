"""Build an index of words; a thread writes the few files that are ready."""

import threading
from collections import Counter
from queue import SimpleQueue
from time import perf_counter

from benchmarks.answers import truth

finished: SimpleQueue[Counter[str] | None] = SimpleQueue()


def write_results() -> None:
    while (index := finished.get()) is not None:
        print(len(index), "words,", index.most_common(3))


def index_words(text: str) -> Counter[str]:  # PLANTED
    counts: Counter[str] = Counter()
    for word in text.split():
        stem = word.lower().removesuffix("ing").removesuffix("ed").strip(".,;")
        counts[stem] += 1
    return counts


writer = threading.Thread(target=write_results, name="writer")
writer.start()
text = "The miners walked, singing and talking; nobody asked anything. " * 2_000
end_s = perf_counter() + truth.SECONDS
index: Counter[str] = Counter()
with truth.planted:
    while perf_counter() < end_s:
        index = index_words(text)

finished.put(index)
truth.threads()
finished.put(None)
writer.join()
