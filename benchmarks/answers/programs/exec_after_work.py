"""Prepare an environment, then become another program, as entry points of containers do."""

import os
from time import perf_counter

from benchmarks.answers import truth


def render_template(values: dict[str, str]) -> str:  # PLANTED
    text = "\n".join(f"{name} = ${{{name}}}" for name in values)
    for name, value in values.items():
        text = text.replace("${" + name + "}", value)
    return text


values = {f"option_{number}": str(number) for number in range(400)}
end_s = perf_counter() + truth.SECONDS
configuration = ""
with truth.planted:
    while perf_counter() < end_s:
        configuration = render_template(values)

truth.write()
os.execvp("echo", ["echo", "starting with", str(len(configuration)), "bytes"])
