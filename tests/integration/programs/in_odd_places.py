"""Calls a decorated function and a block after something happened to the process: `in_odd_places.py WHAT`.

Prints the results; what profkit has to say goes to stderr.
"""

from __future__ import annotations

import os
import sys

what = sys.argv[1]
if what.startswith("platform "):
    sys.platform = what.removeprefix("platform ")

from profkit import ProfkitError, profile, profiled  # noqa: E402


@profile(blocking=False)
def count(number: int) -> int:
    """Works for some milliseconds."""
    return sum(index % 7 for index in range(number))


def change_root() -> None:
    os.chroot(sys.argv[2])
    os.chdir("/")


def change_user() -> None:
    os.setgid(65534)
    os.setuid(65534)


def use_all_descriptors() -> None:
    import resource

    resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
    while True:
        try:
            os.dup(0)
        except OSError:
            return


def remove_folder() -> None:
    os.chdir(sys.argv[2])
    os.rmdir(sys.argv[2])


CHANGES = {
    "chroot": change_root,
    "setuid": change_user,
    "descriptors": use_all_descriptors,
    "no folder": remove_folder,
    "closerange": lambda: os.closerange(3, 200),
}

if "late" in sys.argv:
    print(count(1000))
CHANGES.get(what, lambda: None)()
print(count(200_000))
with profiled("block") as block:
    print("in the block")
print(count(1000))
try:
    run = getattr(count, "last_run", None)  # else it is the function itself
except ProfkitError as error:
    print(error, file=sys.stderr)
print("done")
