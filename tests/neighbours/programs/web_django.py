"""A Django project in one file, for WSGI and ASGI, whose requests are profiled by its setting MIDDLEWARE."""

from __future__ import annotations

import asyncio
import json
import os

import django
from colours import blue, green, red, turns
from django.conf import settings
from django.core.asgi import get_asgi_application
from django.core.wsgi import get_wsgi_application
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.urls import path

settings.configure(
    ALLOWED_HOSTS=["127.0.0.1"],
    SECRET_KEY="for tests",
    ROOT_URLCONF=__name__,
    MIDDLEWARE=["profkit.integrations.web.django.ProfkitMiddleware", f"{__name__}.name_the_worker"],
    PROFKIT=json.loads(os.environ.get("WEB_OPTIONS", "{}")),
    LOGGING_CONFIG=None,
)
django.setup()


def name_the_worker(get_response):
    def middleware(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        response["X-Pid"] = str(os.getpid())
        return response

    return middleware


def ready(_request: HttpRequest) -> HttpResponse:
    return HttpResponse("ready")


def red_view(_request: HttpRequest, number: int) -> JsonResponse:
    red(0.08 * turns(number))
    return JsonResponse({"number": number})


async def green_view(_request: HttpRequest, number: int) -> HttpResponse:
    for _ in range(8 * turns(number)):
        green(0.01)
        await asyncio.sleep(0)
    return HttpResponse(str(number))


def blue_view(_request: HttpRequest, number: int) -> HttpResponse:
    blue(0.08 * turns(number))
    return HttpResponse(str(number))


def query(request: HttpRequest) -> JsonResponse:
    return JsonResponse(
        request.GET.dict() | {k: v for k, v in request.headers.items() if "profkit" in k.lower()}
    )


def broken(_request: HttpRequest) -> HttpResponse:
    raise ValueError("mine")


urlpatterns = [
    path("ready", ready),
    path("reach", ready),
    path("red/<int:number>", red_view),
    path("green/<int:number>", green_view),
    path("blue/<int:number>", blue_view),
    path("query", query),
    path("broken", broken),
]
wsgi = get_wsgi_application()
asgi = get_asgi_application()
