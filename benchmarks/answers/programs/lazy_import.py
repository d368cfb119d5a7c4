"""Look prices up in a generated package, which a function imports when it needs it."""

import sys
from pathlib import Path

from benchmarks.answers import truth


def generate(path: Path, articles: int) -> None:
    path.mkdir(parents=True, exist_ok=True)
    lines = [f"def price_{n}(count):\n    return count * {n} + {n % 7}\n" for n in range(articles)]
    parts = [lines[first : first + 2_000] for first in range(0, articles, 2_000)]
    for number, part in enumerate(parts):
        (path / f"part_{number}.py").write_text("\n".join(part), "utf-8")
    imports = [f"from .part_{number} import *" for number in range(len(parts))]
    (path / "__init__.py").write_text("\n".join(imports), "utf-8")


def price(article: int, count: int) -> int:
    with truth.planted:
        import catalogue  # type: ignore[import-not-found]  # PLANTED
    result: int = getattr(catalogue, f"price_{article}")(count)
    return result


def main() -> None:
    generate(Path("generated", "catalogue"), int(truth.SECONDS * 40_000))
    sys.path.insert(0, "generated")
    print(price(1_000, 3))


if __name__ == "__main__":
    main()
