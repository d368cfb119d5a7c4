from __future__ import annotations

from collections.abc import Mapping

import pytest

from profkit.errors import UsageError
from profkit.integrations.web.asgi import ProfkitMiddleware
from profkit.integrations.web.options import PAGE_RATE_HZ, web_settings

TOKEN = "0123456789-abcdef"
NOTHING: Mapping[str, str] = {}


def test_it_is_off_unless_enabled() -> None:
    assert not web_settings({}, NOTHING).active
    assert not web_settings({"source": True}, NOTHING).active
    assert web_settings({"token": TOKEN}, NOTHING).active
    assert web_settings({"every": 10}, NOTHING).active


def test_variables_stand_in_for_arguments() -> None:
    environ = {"PROFKIT_WEB_TOKEN": TOKEN, "PROFKIT_WEB_EVERY": "100"}
    settings = web_settings({}, environ)
    assert (settings.access.is_open, settings.every) == (True, 100)
    given = web_settings({"token": "", "every": 7}, environ)
    assert (given.access.is_open, given.every) == (False, 7)


def test_single_requests_have_a_higher_rate() -> None:
    assert web_settings({"token": TOKEN}, NOTHING).profiler.sampler.rate_hz == PAGE_RATE_HZ
    assert web_settings({"token": TOKEN, "every": 10}, NOTHING).profiler.sampler.rate_hz is None
    assert web_settings({"token": TOKEN, "rate": 50.0}, NOTHING).profiler.sampler.rate_hz == 50


@pytest.mark.parametrize(
    ("options", "environ", "problem"),
    [
        ({"token": "short"}, NOTHING, "5 characters"),
        ({"token": 5}, NOTHING, "token"),
        ({"every": 0}, NOTHING, "every=0"),
        ({"every": True}, NOTHING, "every=True"),
        ({"every": 2.5}, NOTHING, "every=2.5"),
        ({"source": "yes"}, NOTHING, "source='yes'"),
        ({"rate": -1}, NOTHING, "rate=-1"),
        ({"blocking": "perhaps"}, NOTHING, "blocking='perhaps'"),
        ({"sampler": "magic"}, NOTHING, "magic"),
        ({"tokn": TOKEN}, NOTHING, "did you mean 'token'"),
        ({}, {"PROFKIT_WEB_EVERY": "often"}, "PROFKIT_WEB_EVERY='often'"),
        ({}, {"PROFKIT_WEB_TOKEN": "short"}, "5 characters"),
    ],
)
def test_wrong_options(options: dict[str, object], environ: Mapping[str, str], problem: str) -> None:
    with pytest.raises(UsageError) as error:
        web_settings(options, environ)  # type: ignore[arg-type]
    assert problem in str(error.value)
    assert "short" not in str(error.value), "a token is no text for logs"


def test_errors_of_late_middleware_are_logged(caplog: pytest.LogCaptureFixture) -> None:
    async def app(*_: object) -> None: ...

    with pytest.raises(UsageError):
        ProfkitMiddleware(app, every=-3)
    assert "every=-3" in caplog.text
