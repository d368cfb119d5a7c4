"""An application without a framework, which the test edits while uvicorn watches it."""

from __future__ import annotations

from colours import green, red  # noqa: F401

from profkit import profile


@profile(label="colour", rate=100.0, blocking=True)
async def colour() -> bytes:
    red(0.1)
    return b"red"


async def app(scope, receive, send) -> None:
    if scope["type"] == "http":
        body = await colour() if scope["path"] == "/colour" else b"red"
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": body})
