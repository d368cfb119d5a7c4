"""Labels of requests: method and route, else a path in which ids are `{id}`; at most 200 labels.

The route's template is asked of the framework before the request runs, as samples need a label then. If the
framework has another way to find routes, paths are labels until a request has shown its template.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Protocol

from profkit.integrations.web.access import Environ, Scope
from profkit.process.guard import ignore

MAX_LABELS = 200
"""Maximum number of labels per process; requests of further routes share one."""
OTHER_ROUTES, NO_ROUTE = "other routes", "(no route)"
_METHODS = frozenset(
    ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT", "QUERY")
)
_OTHER_METHOD = "OTHER"
_LONGEST_PATH = 120
_MAX_PARTS = 12
_MAX_LEARNED = 1000
_PLAIN = re.compile(r"[A-Za-z_~.-]{1,40}|v\d{1,2}")
"""Part of a path that is no id: letters alone, or the version of an API. Others become `{id}`."""

_Found = tuple[object, Mapping[str, object]]


class _Route(Protocol):
    """Route of Starlette, a mounted application, or a router that FastAPI includes."""

    def matches(self, scope: dict[str, object]) -> _Found:
        """Return whether it matches, and what its handler adds to the scope."""


class _Bound(Protocol):
    """Flask's routes for one request: a `werkzeug.routing.MapAdapter`."""

    def match(self, *, return_rule: bool) -> tuple[object, object]:
        """Return the rule and its arguments."""


class _Rules(Protocol):
    """Flask's routes: a `werkzeug.routing.Map`."""

    def bind_to_environ(self, environ: Environ) -> _Bound:
        """Return the routes, for one request."""


Find = Callable[[], "str | None"]
"""Function that asks the framework for a route's template: "" if none matches, None if it cannot say."""


class Labels:
    """Labels of one service, of which there are at most `MAX_LABELS`."""

    def __init__(self) -> None:
        self._known: set[str] = set()
        self._learned: dict[str, str] = {}
        """Templates by labels that were made from paths."""

    def label(self, method: str, path: str, find: Find) -> str:
        """Return the label of a request."""
        method = method if method in _METHODS else _OTHER_METHOD
        try:
            template = find()
        except Exception as error:  # noqa: BLE001 - logged; raised if it is not the framework's
            _ignore(error)
            template = None
        if template is None:
            label = by_path(method, path)
            label = self._learned.get(label, label)
        else:
            label = f"{method} {template or NO_ROUTE}"
        return self._bounded(label)

    def learn(self, method: str, path: str, template: str) -> None:
        """Remember the template that a framework gave to a request while it ran."""
        if method in _METHODS and len(self._learned) < _MAX_LEARNED:
            self._learned[by_path(method, path)] = f"{method} {template}"

    def _bounded(self, label: str) -> str:
        if label in self._known:
            return label
        if len(self._known) >= MAX_LABELS:
            return OTHER_ROUTES
        self._known.add(label)
        return label


def by_path(method: str, path: str) -> str:
    """Return a label made from a path: ids and other parts that are no plain words become `{id}`."""
    parts = [
        part if not part or _PLAIN.fullmatch(part) else "{id}" for part in path[1:].split("/")[:_MAX_PARTS]
    ]
    return f"{method} /{'/'.join(parts)}"[:_LONGEST_PATH]


def _ignore(error: Exception) -> None:
    try:
        ignore(error, "finding the route of a request")
    except Exception:  # noqa: BLE001 - the framework's own, which it will raise again when it routes
        return


def route_of_scope(app: object, scope: Scope) -> str | None:
    """Return the template of an ASGI request's route: Starlette's, FastAPI's or Django's."""
    routes = getattr(scope.get("app", app), "routes", None)
    if routes is not None:
        return _starlette_route(routes, scope, "")
    return django_route(_path_of(scope)) if is_django(app) else None


def shown_in_scope(scope: Scope) -> str | None:
    """Return the template that a framework has put into the scope."""
    path = getattr(scope.get("route"), "path", None)
    return path if isinstance(path, str) else None


def route_of_environ(app: object, environ: Environ) -> str | None:
    """Return the template of a WSGI request's route: Flask's or Django's."""
    urls = getattr(getattr(app, "__self__", app), "url_map", None)
    if urls is not None:
        return _flask_route(urls, environ)
    return django_route(environ.get("PATH_INFO", "")) if is_django(app) else None


def shown_in_environ(environ: Environ) -> str | None:
    """Return the template that Flask has put into the environment."""
    rule = getattr(getattr(environ.get("werkzeug.request"), "url_rule", None), "rule", None)
    return rule if isinstance(rule, str) else None


def is_django(app: object) -> bool:
    """Return whether an application is Django's handler."""
    return type(app).__module__.startswith("django.core.handlers.")


def django_route(path: str) -> str:
    """Return the template of the path below a Django application's root."""
    from django.urls import Resolver404, resolve

    try:
        return f"/{resolve(path).route}"
    except Resolver404:
        return ""


def _flask_route(urls: _Rules, environ: Environ) -> str:
    from werkzeug.exceptions import HTTPException
    from werkzeug.routing import RequestRedirect

    try:
        rule, _ = urls.bind_to_environ(environ).match(return_rule=True)
    except RequestRedirect:
        return ""
    except HTTPException:  # not found, or not by this method
        return ""
    return str(getattr(rule, "rule", ""))


def _starlette_route(routes: Iterable[_Route], scope: Scope, prefix: str) -> str | None:
    """Return the template of the first route that matches, below a prefix."""
    from starlette.routing import Match

    partial: str | None = ""
    for route in routes:
        match, child = route.matches(dict(scope))
        if match is Match.NONE:
            continue
        template = _template_of(route, {**scope, **child}, prefix)
        if match is Match.FULL:
            return template
        partial = partial or template  # the path matches, and the method does not
    return partial


def _template_of(route: _Route, scope: Scope, prefix: str) -> str | None:
    contexts = getattr(route, "effective_route_contexts", None)
    if contexts is not None:  # a router that FastAPI includes, whose routes have its prefix
        included = (getattr(context, "starlette_route", None) or context for context in contexts())
        return _starlette_route(included, scope, prefix)
    path = getattr(route, "path", "")
    below = getattr(route, "routes", None)
    if below:
        return _starlette_route(below, scope, f"{prefix}{path}")
    return f"{prefix}{path}" if path or prefix else None


def _path_of(scope: Scope) -> str:
    """Return the path below the application's root, as Django resolves it."""
    path, root = str(scope["path"]), str(scope.get("root_path", ""))
    return path[len(root) :] if root and path.startswith(root) else path
