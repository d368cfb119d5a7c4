"""What a debugger, a log or a REPL shows of a run is one short line, whatever the run holds."""

from __future__ import annotations

from dataclasses import replace

import pytest

from profkit.model.measurement import MeasuredRun
from tests.support.example_measured_runs import measured_run
from tests.support.example_runs import labelled, made_profile, made_run

MEASURED = measured_run()
LONGEST = 200


@pytest.mark.parametrize(
    "shown",
    [
        made_run(),
        made_run().info,
        made_profile(),
        MEASURED,
        MEASURED.info,
        MEASURED.measurement,
        labelled("3f2a91c0de", "a\nlabel\x1b[31m" * 100),
        replace(MEASURED.info, error="Traceback:\n" * 100),
    ],
    ids=lambda shown: type(shown).__name__,
)
def test_a_repr_is_one_short_line(shown: object) -> None:
    text = repr(shown)
    assert len(text) <= LONGEST
    assert text.isprintable()
    assert text.startswith(f"<{type(shown).__name__} ")


def test_a_repr_says_which_run_it_is() -> None:
    assert repr(made_run()) == "<Run 3f2a91c0de of 'train_step', SUCCESS, 40 calls in 2.97 s, 291 samples>"
    assert repr(made_run().profile) == "<Profile of 291 samples: 11 stacks, 16 frames, 2 threads>"


def test_a_repr_of_a_failed_measurement_says_so() -> None:
    failed = MeasuredRun(replace(MEASURED.info, error="no compiler"))
    assert repr(failed).endswith(", failed>>")
