"""A Django project in one file, for WSGI and ASGI, whose views and middleware are profiled."""

from __future__ import annotations

import asyncio
import os
import sys

import django
from asgiref.sync import sync_to_async
from colours import blue, green, red
from django.conf import settings
from django.core.asgi import get_asgi_application
from django.core.wsgi import get_wsgi_application
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse, StreamingHttpResponse
from django.template import Context, Template
from django.urls import path
from django.utils.decorators import method_decorator
from django.views import View
from django.views.decorators.http import require_GET

from profkit import profile, profiled

EXACT = {"rate": 100.0, "blocking": True}

settings.configure(
    ALLOWED_HOSTS=["127.0.0.1"],
    SECRET_KEY="for tests",
    ROOT_URLCONF=__name__,
    MIDDLEWARE=[f"{__name__}.name_the_worker"],
    TEMPLATES=[{"BACKEND": "django.template.backends.django.DjangoTemplates"}],
    LOGGING_CONFIG=None,
)
django.setup()


@profile(label="middleware", **EXACT)
def name_the_worker(get_response):
    def middleware(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        response["X-Pid"] = str(os.getpid())
        return response

    return middleware


def ready(_request: HttpRequest) -> HttpResponse:
    return HttpResponse("ready")


@require_GET
@profile(label="red", **EXACT)
def red_view(_request: HttpRequest, number: int) -> JsonResponse:
    red(0.02)
    return JsonResponse({"number": number})


@profile(label="green", **EXACT)
@require_GET
def green_view(request: HttpRequest, number: int) -> HttpResponse:
    green(0.05)
    template = Template("{{ number }} {{ name }} {{ call }}")
    return HttpResponse(
        template.render(Context({"number": number, "name": request.GET["name"], "call": called}))
    )


@profile(label="called", **EXACT)
def called() -> str:
    return "called by a template"


@profile(label="async", **EXACT)
async def async_view(_request: HttpRequest, number: int) -> HttpResponse:
    for _ in range(5):
        blue(0.004)
        await asyncio.sleep(0)
    doubled = await sync_to_async(double)(number)
    return HttpResponse(f"{doubled}")


@profile(label="double", **EXACT)
def double(number: int) -> int:
    return number * 2


class Page(View):
    @profile(label="Page.get", **EXACT)
    def get(self, _request: HttpRequest, number: int) -> HttpResponse:
        with profiled("block", **EXACT):
            red(0.01)
        return HttpResponse(f"page {number}")

    @method_decorator(profile(label="Page.post", **EXACT))
    def post(self, request: HttpRequest, number: int) -> HttpResponse:
        return HttpResponse(request.body + str(number).encode())


@profile(label="stream", **EXACT)
def stream(_request: HttpRequest, count: int) -> StreamingHttpResponse:
    return StreamingHttpResponse(f"line {n}\n" for n in range(count))


@profile(label="missing", **EXACT)
def missing(_request: HttpRequest) -> HttpResponse:
    raise Http404("nothing here")


@profile(label="broken", **EXACT)
def broken(_request: HttpRequest) -> HttpResponse:
    raise ValueError("mine")


@profile(label="reach", **EXACT)
def reach(_request: HttpRequest) -> HttpResponse:
    return HttpResponse("reached")


urlpatterns = [
    path("ready", ready),
    path("red/<int:number>", red_view),
    path("green/<int:number>", green_view),
    path("async/<int:number>", async_view),
    path("page/<int:number>", Page.as_view()),
    path("stream/<int:count>", stream),
    path("missing", missing),
    path("broken", broken),
    path("reach", reach),
]
wsgi = get_wsgi_application()
asgi = get_asgi_application()

if __name__ == "__main__":
    from django.core.management import execute_from_command_line

    sys.modules["django_app"] = sys.modules["__main__"]
    execute_from_command_line(sys.argv)
