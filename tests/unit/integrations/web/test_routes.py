from __future__ import annotations

import logging
import re
from dataclasses import replace
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from profkit.integrations.web.routes import MAX_LABELS, NO_ROUTE, OTHER_ROUTES, Labels, by_path
from profkit.model.region import Region, RegionKey, RegionKind


@pytest.mark.parametrize(
    ("path", "label"),
    [
        ("/", "GET /"),
        ("", "GET /"),
        ("/items", "GET /items"),
        ("/items/", "GET /items/"),
        ("/items/17", "GET /items/{id}"),
        ("/api/v2/users/3f2504e0-4f89-11d3-9a0c-0305e82c3301/posts", "GET /api/v2/users/{id}/posts"),
        ("/users/ann@example.org", "GET /users/{id}"),
        ("/a;b/c\nd/e#f/ü", "GET /{id}/{id}/{id}/{id}"),
        (f"/{'x' * 41}", "GET /{id}"),
        ("/static/site.min.css", "GET /static/site.min.css"),
    ],
)
def test_labels_by_path(path: str, label: str) -> None:
    assert by_path("GET", path) == label


@given(st.text())
def test_any_path_has_a_short_label_that_stacks_can_hold(path: str) -> None:
    label = Labels().label("GET", f"/{path}", lambda: None)
    assert re.fullmatch(r"GET /[A-Za-z0-9_~.{}/-]*", label)
    assert len(label) <= 120
    region = Region(RegionKey("web", label, 0, label), RegionKind.REQUEST, "")
    assert ";" not in region.marker


def test_the_framework_knows_best() -> None:
    labels = Labels()
    assert labels.label("POST", "/items/pen", lambda: "/items/{name}") == "POST /items/{name}"
    assert labels.label("GET", "/wp-admin.php", lambda: "") == f"GET {NO_ROUTE}"
    assert labels.label("HACK\n", "/", lambda: "/") == "OTHER /"


def test_a_template_that_a_request_has_shown_is_learned() -> None:
    labels = Labels()
    assert labels.label("GET", "/items/1", lambda: None) == "GET /items/{id}"
    labels.learn("GET", "/items/1", "/items/<int:number>")
    assert labels.label("GET", "/items/2", lambda: None) == "GET /items/<int:number>"
    assert labels.label("PUT", "/items/2", lambda: None) == "PUT /items/{id}"


def test_there_are_not_more_labels_than_allowed() -> None:
    labels = Labels()
    templates = [f"/{number}" for number in range(MAX_LABELS + 50)]
    found = {labels.label("GET", "/", partial(str, template)) for template in templates}
    assert len(found) == MAX_LABELS + 1
    assert OTHER_ROUTES in found
    assert labels.label("GET", "/", lambda: "/0") == "GET /0", "known labels stay"


def test_a_framework_that_cannot_be_asked_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    def find() -> str:
        raise LookupError("no routes here")

    labels = Labels()
    with caplog.at_level(logging.WARNING, logger="profkit"):
        assert [labels.label("GET", "/items/1", find) for _ in range(2)] == ["GET /items/{id}"] * 2
    assert len(caplog.records) == 1


def test_requests_of_a_route_are_of_one_version() -> None:
    route = Region(RegionKey("web", "GET /", 0, "GET /"), RegionKind.REQUEST, "")
    single = replace(route, code="0123")
    assert single.id != route.id
    assert single.version == route.version == route.id
    function = replace(single, kind=RegionKind.FUNCTION)
    assert function.version == function.id
