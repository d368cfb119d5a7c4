"""Print profkit's requirements and those of extras, without torch: `python requirements.py EXTRA...`."""

from __future__ import annotations

import re
import sys
import sysconfig
from configparser import ConfigParser
from pathlib import Path

_FREE_THREADED = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))
_SETTINGS = Path(__file__).parents[2] / "setup.cfg"


def requirements(extras: list[str]) -> list[str]:
    """Return the lines of setup.cfg that name requirements, without torch's.

    For free-threaded builds psycopg uses the system's libpq: there are no wheels that contain one.
    """
    settings = ConfigParser()
    settings.read(_SETTINGS, encoding="utf-8")
    texts = [
        settings["options"]["install_requires"],
        *(settings["options.extras_require"][extra] for extra in extras),
    ]
    lines = [line for text in texts for line in text.split("\n") if line]
    if _FREE_THREADED:
        lines = [line.replace("psycopg[binary]", "psycopg") for line in lines]
    return [line for line in lines if re.split(r"[^\w-]", line)[0] != "torch"]


if __name__ == "__main__":
    print("\n".join(requirements(sys.argv[1:])))
