"""A Flask application whose views are profiled; `MASTER_CALLS=1` calls one while the module is imported."""

from __future__ import annotations

import os

from colours import green, red
from flask import Flask, Response, abort, jsonify, request

from profkit import profile, profiled

EXACT = {"rate": 100.0, "blocking": True}
app = Flask(__name__)


@app.after_request
def name_the_worker(response: Response) -> Response:
    response.headers["X-Pid"] = str(os.getpid())
    return response


@app.get("/ready")
def ready() -> str:
    return "ready"


@app.get("/red/<int:number>")
@profile(label="red", **EXACT)
def red_view(number: int) -> Response:
    red(0.02)
    return jsonify(number=number, colour="red")


@app.get("/green/<int:number>")
@profile(label="green", **EXACT)
def green_view(number: int) -> Response:
    green(0.02)
    return jsonify(number=number, colour="green", query=request.args.to_dict())


@app.get("/block/<int:number>")
def block_view(number: int) -> str:
    with profiled("block", **EXACT):
        red(0.01)
    return f"block {number}"


@app.get("/reach")
@profile(label="reach", **EXACT)
def reach() -> str:
    return "reached"


@app.get("/stream/<int:count>")
def stream(count: int) -> Response:
    return Response(lines(count), mimetype="text/plain")


@profile(label="lines", **EXACT)
def lines(count: int):
    for number in range(count):
        yield f"line {number}\n"


@app.get("/missing")
@profile(label="missing", **EXACT)
def missing() -> str:
    abort(404, "nothing here")


@app.get("/broken")
@profile(label="broken", **EXACT)
def broken() -> str:
    raise ValueError("mine")


@profile(label="warm-up", **EXACT)
def warm_up() -> None:
    red(0.01)


if os.environ.get("MASTER_CALLS"):
    warm_up()
