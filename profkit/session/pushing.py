"""The companion that sends finished sessions elsewhere while the program runs: `profkit push --follow`."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import profkit
from profkit.errors import ProfkitError
from profkit.process.child import detaching_command, own_python, run_child
from profkit.process.guard import reraise_signal_error
from profkit.store.clearing import PUSHING, alone_in
from profkit.store.files import open_spool
from profkit.store.urls import hide_password

LOG = ".push.log"
"""File in the spool with what the companion has to say."""
_START_S = 10.0


def keep_pushing(spool: Path, place: str, say: Callable[[str], None]) -> None:
    """Start a companion for a spool unless it has one; it ends when nothing is recorded there any more.

    It is no child of the program, which never waits for it. Raises only exceptions of the program's signal
    handlers: if there is no companion, sessions stay in the spool.
    """
    try:
        with open_spool(spool, os.geteuid()) as opened, alone_in(opened, wait=False, lock=PUSHING) as is_free:
            if not is_free:
                return
        argv = [*detaching_command(), own_python(), "-P", "-m", "profkit", "push", "--follow"]
        run_child(argv, spool.absolute() / LOG, _START_S, environ=_environ(spool, place))
    except (OSError, ProfkitError) as error:  # TimeoutError is one
        reraise_signal_error(error)
        say(f"sessions are not sent to {hide_password(place)}: {error}; `profkit push` sends them later")


def _environ(spool: Path, place: str) -> dict[str, str]:
    root = str(Path(profkit.__file__).parent.parent)
    path = os.environ.get("PYTHONPATH")
    return {
        **os.environ,
        "PROFKIT_SPOOL": str(spool.absolute()),
        "PROFKIT_PUSH": place,
        "PYTHONPATH": root if path is None else os.pathsep.join((path, root)),
    }
