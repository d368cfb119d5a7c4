from __future__ import annotations

import hmac
from urllib.parse import parse_qsl, quote_plus, urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from profkit.errors import UsageError
from profkit.integrations.web import access
from profkit.integrations.web.access import Access, Answer, without_parameters

TOKEN = "a token+with%20signs"


def scope_of(query: str = "", **headers: str) -> dict[str, object]:
    pairs = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    return {"type": "http", "query_string": query.encode(), "headers": [(b"host", b"here"), *pairs]}


def environ_of(query: str = "", **headers: str) -> dict[str, str]:
    uri = f"/path?{query}" if query else "/path"
    return {
        "QUERY_STRING": query, "RAW_URI": uri, "HTTP_HOST": "here",
        **{f"HTTP_{name.upper()}": value for name, value in headers.items()},
    }  # fmt: skip


QUERY = f"a=1&profkit_token={quote_plus(TOKEN)}&b=%20&profkit_answer=response"


@pytest.mark.parametrize(
    ("query", "headers", "answer", "left"),
    [
        ("a=1", {"profkit_token": TOKEN}, Answer.PAGE, "a=1"),
        ("a=1", {"profkit_token": TOKEN, "profkit_answer": "response"}, Answer.RESPONSE, "a=1"),
        (f"profkit_token={quote_plus(TOKEN)}", {}, Answer.PAGE, ""),
        (QUERY, {}, Answer.RESPONSE, "a=1&b=%20"),
    ],
    ids=["header", "header for the response", "query", "query for the response"],
)
def test_a_token_is_found_and_removed(query: str, headers: dict[str, str], answer: Answer, left: str) -> None:
    scope, environ = scope_of(query, **headers, other="kept"), environ_of(query, **headers, other="kept")
    assert Access(TOKEN).asked_in_scope(scope) is answer
    assert scope == scope_of(left, other="kept")
    assert Access(TOKEN).asked_in_environ(environ) is answer
    assert environ == environ_of(left, other="kept")


@pytest.mark.parametrize("token", ["", "wrong", TOKEN[:-1], f"{TOKEN}x", TOKEN.upper(), "grün" * 5])
def test_a_wrong_token_changes_nothing(token: str) -> None:
    query = urlencode({"profkit_token": token})
    for scope in (scope_of("", profkit_token=token), scope_of(query)):
        before = dict(scope)
        assert Access(TOKEN).asked_in_scope(scope) is None
        assert scope == before
    for environ in (environ_of("", profkit_token=token), environ_of(query)):
        before = dict(environ)
        assert Access(TOKEN).asked_in_environ(environ) is None
        assert environ == before


def test_an_empty_token_never_opens() -> None:
    closed = Access("")
    assert not closed.is_open
    assert closed.asked_in_scope(scope_of("profkit_token=", profkit_token="")) is None
    assert closed.asked_in_environ(environ_of("profkit_token=")) is None


def test_tokens_are_compared_in_constant_time(monkeypatch: pytest.MonkeyPatch) -> None:
    compared = []

    def compare(one: bytes, other: bytes) -> bool:
        compared.append((one, other))
        return hmac.compare_digest(one, other)

    monkeypatch.setattr(access, "compare_digest", compare)
    assert Access(TOKEN).asked_in_scope(scope_of("", profkit_token="x")) is None
    assert Access(TOKEN).asked_in_environ(environ_of("profkit_token=y")) is None
    assert compared == [(b"x", TOKEN.encode()), (b"y", TOKEN.encode())]


@pytest.mark.parametrize("token", ["short", "x" * 15, "ü" * 20, "with\nlines-and-more", " spaces around it "])
def test_tokens_that_are_refused(token: str) -> None:
    with pytest.raises(UsageError, match="token") as refusal:
        Access(token)
    assert token not in str(refusal.value)


@given(st.lists(st.tuples(st.text(), st.text())))
def test_other_parameters_stay(parameters: list[tuple[str, str]]) -> None:
    query = urlencode(parameters)
    own = urlencode({"profkit_token": "x", "profkit_answer": "y"})
    left = [pair for pair in parameters if pair[0] not in (access.TOKEN, access.ANSWER)]
    for text in (f"{own}&{query}", f"{query}&{own}"):
        assert parse_qsl(without_parameters(text), keep_blank_values=True) == left


FORMS = {
    "encoded name": f"profkit%5Ftoken={quote_plus(TOKEN)}&a=1",
    "encoded letter": f"a=1&%70rofkit_token={quote_plus(TOKEN)}",
    "after a wrong one": f"profkit_token=wrong&profkit_token={quote_plus(TOKEN)}&a=1",
}


@pytest.mark.parametrize("header", [None, "wrong" * 5], ids=["no header", "wrong header"])
@pytest.mark.parametrize("query", FORMS.values(), ids=FORMS)
def test_a_token_is_found_and_hidden_in_each_form(query: str, header: str | None) -> None:
    headers = {} if header is None else {"profkit_token": header}
    scope = {**scope_of(query, **headers), "raw_path": f"/path?{query}".encode()}
    assert Access(TOKEN).asked_in_scope(scope) is Answer.PAGE
    assert scope == {**scope_of("a=1"), "raw_path": b"/path"}
    environ = environ_of(query, **headers)
    assert Access(TOKEN).asked_in_environ(environ) is Answer.PAGE
    assert environ == environ_of("a=1")
