"""Executions of a program, one after the other: their streams, their environment, and their failures."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from profkit.measuring.errors import ProgramFailed, ProgramTimeout
from profkit.measuring.pool.command import Output
from profkit.measuring.programs.orders import ProgramOrder
from profkit.model.notes import Note, NoteCode
from profkit.process.metered import Files, Meter, MeteredRun, metering

_STDOUT, _STDERR = 1, 2
_OWN_ENV = {"PROFKIT_DISABLE": "1"}
"""Variables of all executions: a sampler that the program starts would be measured, too."""


class Executions:
    """Executions of one order. The output of the first is shown, that of the others only on request."""

    def __init__(self, order: ProgramOrder, meter: Meter, errors: Output) -> None:
        self.order, self._meter, self._errors = order, meter, errors
        self._made, self._failed, self._last_exit_code = 0, 0, 0

    def execute(
        self,
        under: Sequence[str] = (),
        variables: Mapping[str, str] | None = None,
        command: Sequence[str] = (),
    ) -> MeteredRun:
        """Execute the program, or `command` in its place, under a tool if one is given, with more variables.

        Raises CommandNotStarted, ProgramTimeout, and ProgramFailed unless failures are ignored.
        """
        order = self.order
        self._made += 1
        os.ftruncate(self._errors.descriptor, 0)
        is_shown = order.show_output or self._made == 1
        env = {**order.environ, **_OWN_ENV, **(variables or {}), **dict(order.env)}
        try:
            argv = (*under, *(command or order.command))
            found = self._meter.run(argv, env, self._files(is_shown), order.timeout_s)
        except TimeoutError as error:
            raise ProgramTimeout(order.label, order.timeout_s or 0.0, self._made, self._said()) from error
        if found.exit_code:
            self._failed, self._last_exit_code = self._failed + 1, found.exit_code
            if not order.ignore_failure:
                raise ProgramFailed(order.label, found.exit_code, self._made, self._said())
        return found

    def notes(self) -> tuple[Note, ...]:
        """Return the note about failures that were ignored, if there were any."""
        if not self._failed:
            return ()
        figures = {"failed": self._failed, "executions": self._made, "exit_code": self._last_exit_code}
        return (Note.of(NoteCode.EXIT_CODES_IGNORED, **figures),)

    def _files(self, is_shown: bool) -> Files:
        stdin = None if self.order.stdin is None else self.order.stdin.path
        if is_shown:
            return Files(stdin, _STDOUT, _STDERR)
        return Files(stdin, None, self._errors.descriptor)

    def _said(self) -> str:
        return self._errors.text()


@contextmanager
def executing(order: ProgramOrder) -> Iterator[Executions]:
    """Yield the executions of an order; an interrupt of the body ends the one that runs."""
    errors = Output()
    try:
        # Only the meter inherits it, which passes it on as the stderr of executions.
        with metering(errors.descriptor) as meter:
            yield Executions(order, meter, errors)
    finally:
        errors.close()
