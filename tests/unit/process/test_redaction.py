"""Secrets are hidden in command lines and variables, and nothing else is."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from profkit.measuring.orders import work_order
from profkit.measuring.runner.jobs import Task
from profkit.measuring.runner.outcomes import order_info
from profkit.process.manifest import recorded_variables
from profkit.process.redaction import HIDDEN, SecretRule, secret_rule

RULE = SecretRule()
VALUES = st.from_regex(r"q[a-cX-Z0189_.+/=%@!~-]{4,30}", fullmatch=True)
"""Begin with a letter: what begins with a dash is another option."""
SECRET_NAMES = st.sampled_from(
    [
        "password", "db-password", "PASSWD", "passphrase", "api-key", "api_key", "apiKey", "APIKEY", "token",
        "hf-token", "authToken", "GITHUBTOKEN", "client-secret", "AWS_SECRET_ACCESS_KEY", "aws_access_key_id",
        "private-key", "credentials", "auth", "db.password", "optimizer.api_key", "MYSQL_PWD", "SENTRY_DSN",
        "OPENAI_API_KEY", "session-cookie", "jwt",
    ]
)  # fmt: skip
HARMLESS_NAMES = st.sampled_from(
    [
        "max-tokens", "tokenizer", "num_tokens", "TOKENIZERS_PARALLELISM", "sort-key", "key", "keyboard",
        "PWD", "OLDPWD", "author", "lr", "batch-size", "data", "PATH", "pin-memory", "OMP_NUM_THREADS",
    ]
)  # fmt: skip
PLAIN = st.text(st.sampled_from("abcXYZ0189_./"), min_size=1, max_size=12)


@given(SECRET_NAMES, VALUES, st.sampled_from(["--{}={}", "-{}={}", "{}={}", "+{}={}"]))
def test_values_of_secret_names(name: str, value: str, form: str) -> None:
    given, hidden = form.format(name, value), form.format(name, HIDDEN)
    assert RULE.argv([given]) == (hidden,)
    assert RULE.argv(["python", "x.py", f"--{name}", value, "rest"]) == (
        "python", "x.py", f"--{name}", HIDDEN, "rest",
    )  # fmt: skip
    variable = name.replace("-", "_").replace(".", "_")
    assert RULE.variables([(variable, value), ("LANG", "C")]) == ((variable, HIDDEN), ("LANG", "C"))


@given(
    st.sampled_from(["postgres", "https", "redis", "mongodb+srv"]),
    st.sampled_from(["", "user"]),
    VALUES,
    st.sampled_from(["{}", "--url={}", "x {} y", "'{}'"]),
)
def test_the_password_of_a_url(scheme: str, user: str, password: str, form: str) -> None:
    argument = form.format(f"{scheme}://{user}:{password}@host:5432/db")
    for shown in (*RULE.argv([argument]), RULE.text(argument), RULE.variables([("URL", argument)])[0][1]):
        assert password not in shown
        assert "@host:5432/db" in shown


@given(HARMLESS_NAMES, PLAIN)
def test_what_is_no_secret_stays(name: str, value: str) -> None:
    arguments = ("python", "-m", "train", f"--{name}={value}", f"--{name}", value, value, f"{name}={value}")
    assert RULE.argv(arguments) == arguments
    assert RULE.variables([(name, value)]) == ((name, value),)


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("connect(user='me', password='hunter2')", "hunter2"),
        ('{"api_key": "hunter2", "n": 1}', "hunter2"),
        ("Authorization: Bearer hunter2.x", "hunter2"),
        ("https://hunter2@github.com/me/it", "hunter2"),
        ("http://h/?a=1&token=hunter2&b=2", "hunter2"),
        ("x ghp_0123456789abcdefghijABCDEFGHIJ012345", "ghp_0123456789"),
        ("hf_abcdefghijklmnopqrstuvwxyz", "hf_abcdef"),
    ],
)
def test_secrets_inside_a_text(text: str, secret: str) -> None:
    assert secret not in RULE.argv([text])[0]
    assert HIDDEN in RULE.argv([text])[0]


@pytest.mark.parametrize(
    "text", ["ssh://git@host/x", "a=1", "http://host:8000/x", "C:\\x", "lambda key=x: y", "x: y", ""]
)
def test_texts_without_secrets_stay(text: str) -> None:
    assert RULE.argv([text]) == (text,)


def test_an_option_after_a_flag_is_not_its_value() -> None:
    assert RULE.argv(["--secret", "--verbose", "x"]) == ("--secret", "--verbose", "x")
    # What one letter means is known to the program alone; see the next test.
    assert RULE.argv(["mysql", "-pquietly"]) == ("mysql", "-pquietly")


def test_more_names_and_letters_can_be_given_and_the_rule_turned_off() -> None:
    rule = secret_rule({"PROFKIT_SECRETS": "license*, -p"})
    assert rule.argv(["x", "-pS", "-p", "S", "--license-file", "q", "--password=y"]) == (
        "x", "-p***", "-p", HIDDEN, "--license-file", HIDDEN, "--password=***",
    )  # fmt: skip
    off = secret_rule({"PROFKIT_SECRETS": "off"})
    assert off.argv(["--password=x"]) == ("--password=x",)
    assert off.variables([("TOKEN", "x")]) == (("TOKEN", "x"),)


@pytest.mark.parametrize("piece", ["a", "a-", "a://b:", " ", "://", "'://", "x:", "a=", "password ", "eyJ."])
def test_long_arguments_take_time_in_proportion(piece: str) -> None:
    """A quadratic rule would take minutes for a megabyte."""
    (shown,) = RULE.argv([piece * (10**6 // len(piece))])
    assert len(shown) > 0


def test_orders_are_recorded_without_the_secrets_of_their_environment() -> None:
    order = work_order("1", env={"API_TOKEN": "hunter2", "N": "1"}, source_cmd="env PASSWORD=hunter2")
    info = order_info(Task(order))
    assert dict(info.env) == {"API_TOKEN": HIDDEN, "N": "1"}
    assert info.source_cmd == ("env", "PASSWORD=***")
    assert dict(order.env)["API_TOKEN"] == "hunter2"


def test_recorded_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("X_TOKEN", "hunter2")
    monkeypatch.setenv("X_N", "1")
    assert recorded_variables(("X_TOKEN", "X_N", "X_MISSING")) == (("X_TOKEN", HIDDEN), ("X_N", "1"))


def test_the_process_describes_itself_without_its_secrets() -> None:
    code = "from profkit.process.manifest import process_info; print(process_info().argv)"
    done = subprocess.run(
        [sys.executable, "-c", code, "--password=hunter2", "--token", "hunter2", "--lr", "0.1"],
        env=os.environ, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert "hunter2" not in done.stdout
    assert "'--lr', '0.1'" in done.stdout
