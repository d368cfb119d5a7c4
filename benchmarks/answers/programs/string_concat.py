"""Build a page line by line by adding to a string."""

from time import perf_counter

from benchmarks.answers import truth


class Page:
    """A page of text."""

    def __init__(self) -> None:
        self.text = ""

    def add(self, line: str) -> None:
        self.text = self.text + line + "\n"  # PLANTED


def render(rows: int) -> Page:
    page = Page()
    for row in range(rows):
        page.add(f"<tr><td>{row}</td><td>{row * row}</td></tr>" * 8)
    return page


end_s, size = perf_counter() + truth.SECONDS, 0
while perf_counter() < end_s:
    with truth.planted:
        size = len(render(2_000).text)
print(size, "characters")
