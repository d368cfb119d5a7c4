"""Clean texts in thirteen steps, each of which is repeated for the same time."""

from time import perf_counter

from benchmarks.answers import truth

STEP_S = 0.004
TEXT = "The quick, brown fox 7 jumps over 12 lazy dogs.\n" * 200


def lower(text: str) -> str:
    end_s = perf_counter() + STEP_S
    while perf_counter() < end_s:
        result = text.lower()
    return result


def stripped(text: str) -> str:
    end_s = perf_counter() + STEP_S
    while perf_counter() < end_s:
        result = "\n".join([line.strip() for line in text.splitlines()])
    return result


def no_digits(text: str) -> str:
    end_s = perf_counter() + STEP_S
    while perf_counter() < end_s:
        result = "".join([c for c in text if not c.isdigit()])
    return result


def no_commas(text: str) -> str:
    end_s = perf_counter() + STEP_S
    while perf_counter() < end_s:
        result = text.replace(",", "")
    return result


def single_spaces(text: str) -> str:
    end_s = perf_counter() + STEP_S
    while perf_counter() < end_s:
        result = " ".join(text.split())
    return result


def titles(text: str) -> str:
    end_s = perf_counter() + STEP_S
    while perf_counter() < end_s:
        result = text.title()
    return result


def swapped(text: str) -> str:
    end_s = perf_counter() + STEP_S
    while perf_counter() < end_s:
        result = text.swapcase()
    return result


def reversed_words(text: str) -> str:
    end_s = perf_counter() + STEP_S
    while perf_counter() < end_s:
        result = " ".join(text.split()[::-1])
    return result


def plain_ascii(text: str) -> str:
    end_s = perf_counter() + STEP_S
    while perf_counter() < end_s:
        result = text.encode("ascii", "ignore").decode()
    return result


def centred(text: str) -> str:
    end_s = perf_counter() + STEP_S
    while perf_counter() < end_s:
        result = text.center(12_000)
    return result


def vowels(text: str) -> str:
    end_s = perf_counter() + STEP_S
    while perf_counter() < end_s:
        result = "".join([c for c in text if c in "aeiou "]) or text
    return result


def sorted_words(text: str) -> str:
    end_s = perf_counter() + STEP_S
    while perf_counter() < end_s:
        result = " ".join(sorted(text.split()))
    return result


def doubled(text: str) -> str:
    end_s = perf_counter() + STEP_S
    while perf_counter() < end_s:
        result = "".join([c + c for c in text])[: len(text)]
    return result


def clean(text: str) -> str:
    text = stripped(lower(text))
    text = single_spaces(no_commas(no_digits(text)))
    text = reversed_words(swapped(titles(text)))
    return doubled(sorted_words(vowels(centred(plain_ascii(text)))))


end_s, cleaned = perf_counter() + truth.SECONDS, 0
while perf_counter() < end_s:
    cleaned += len(clean(TEXT)) > 0
print(cleaned, "texts")
