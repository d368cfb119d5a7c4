"""A Flask application whose requests are profiled by route."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

from colours import blue, green, red, turns
from flask import Flask, Response, jsonify, request

from profkit.integrations.web.wsgi import ProfkitMiddleware

app = Flask(__name__)
app.wsgi_app = ProfkitMiddleware(app.wsgi_app, **json.loads(os.environ.get("WEB_OPTIONS", "{}")))


@app.after_request
def name_the_worker(response: Response) -> Response:
    response.headers["X-Pid"] = str(os.getpid())
    return response


@app.get("/ready")
@app.get("/reach")
def ready() -> str:
    return "ready"


@app.get("/red/<int:number>")
def red_view(number: int) -> Response:
    red(0.08 * turns(number))
    return jsonify(number=number)


@app.get("/green/<int:number>")
def green_view(number: int) -> Response:
    def parts() -> Iterator[str]:
        for part in range(4 * turns(number)):
            green(0.02)
            yield f"{part}\n"

    return Response(parts(), mimetype="text/plain")


@app.get("/blue/<int:number>")
def blue_view(number: int) -> str:
    with ThreadPoolExecutor(1) as pool:
        pool.submit(blue, 0.08 * turns(number)).result()
    return str(number)


@app.get("/query")
def query() -> Response:
    return jsonify(request.args.to_dict() | {k: v for k, v in request.headers if "profkit" in k.lower()})


@app.get("/broken")
def broken() -> str:
    raise ValueError("mine")
