"""Two ways to count words: which one is faster, and by how much?

Run it, then `profkit compare "by_hand(words)" "Counter(words)"` for the verdict with its interval, and
`profkit report count_words` for the decorator's measurements.
"""

from __future__ import annotations

import sys
from collections import Counter

from profkit import measure_all, profile, work_order

SETUP = """
from collections import Counter
words = "the quick brown fox jumps over the lazy dog".split() * 50
def by_hand(words):
    found = {}
    for word in words:
        found[word] = found.get(word, 0) + 1
    return found
"""


@profile(mode="timer", quick=True)
def count_words(text: str) -> Counter[str]:
    """Count words; measured in the background, with the text of the call."""
    return Counter(text.split())


def main() -> None:
    """Compare, interleaved in the same processes; then call the decorated function as a program would."""
    orders = [work_order("by_hand(words)", setup=SETUP), work_order("Counter(words)", setup=SETUP)]
    by_hand, counter = measure_all(orders, interleaved=True, progress=sys.stderr)
    for run in (by_hand, counter):
        print(run.measurement)
    if by_hand.info.median_s and counter.info.median_s:
        print(f"Counter takes {counter.info.median_s / by_hand.info.median_s:.0%} of the time of by_hand")
    print(count_words("to be or not to be").most_common(1))


if __name__ == "__main__":
    main()
