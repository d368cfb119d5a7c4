"""Requests to servers of profiles, and what becomes of their answers."""

from __future__ import annotations

import base64
import gzip
import json
import socket
import ssl
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import replace
from http.client import responses
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

from profkit.formats.pprof import decode
from profkit.ingest.servers import otlp_http
from profkit.ingest.servers.facts import service_of
from profkit.ingest.servers.profile_server import ProfileServer, RunsRefused
from profkit.model.region import RegionKind
from profkit.model.run import Run
from profkit.model.session import Member
from profkit.store.places import PlaceUnavailable
from tests.support.example_runs import made_run
from tests.support.folders import SAMPLES
from tests.support.profile_receiver import Receiver, Respond, answer, receiving
from tests.unit.formats.pprof.pprof_messages import PprofProfile, PushRequest

RECORDED = json.loads((SAMPLES / "pyroscope-io-1.4.0.json").read_text("utf-8"))
NOTHING: Mapping[str, str] = {}


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as made:
        yield made


def in_job(run: Run) -> Run:
    info = run.info
    member = Member(job="train-7", rank=0, world_size=4)
    process = replace(info.process, member=member, host="node3", argv=("python", "-u", "/srv/train.py"))
    return replace(run, info=replace(info, process=process))


def sent(receiver: Receiver, *runs: Run, url: str = "", environ: Mapping[str, str] = NOTHING) -> None:
    ProfileServer(url or f"pyroscope+http://{receiver.host}", environ).send("s", runs)


def labels_of(series: object) -> dict[str, str]:
    return {pair.name: pair.value for pair in series.labels}  # type: ignore[attr-defined]


def test_requests_are_like_those_of_pyroscopes_own_client(receiver: Receiver) -> None:
    url = f"pyroscope+http://user:secret@{receiver.host}/base?tenant=team-a&service_name=demo.app"
    sent(receiver, in_job(made_run()), url=url)
    (request,) = receiver.requests
    assert request.path == RECORDED["path"]
    for name, value in RECORDED["headers"].items():
        if name != "user-agent":
            assert request.headers[name] == value
    theirs = PushRequest.FromString(gzip.decompress(base64.b64decode(RECORDED["body"])))
    ours = PushRequest.FromString(request.body)
    assert ours.SerializeToString() == request.body
    (their_series,), (our_series,) = theirs.series, ours.series
    shared = {"__name__", "service_name", "region", "rank"}
    assert shared <= labels_of(their_series).keys() & labels_of(our_series).keys()
    assert labels_of(our_series)["service_name"] == labels_of(their_series)["service_name"] == "demo.app"
    (their_sample,), (our_sample,) = their_series.samples, our_series.samples
    assert len(their_sample.ID) == len(our_sample.ID) == 36
    for raw in (their_sample.raw_profile, our_sample.raw_profile):
        profile = PprofProfile.FromString(raw)
        assert all((profile.sample, profile.time_nanos, profile.duration_nanos, profile.period))


def test_a_run_is_a_series_with_labels(receiver: Receiver) -> None:
    run = in_job(made_run())
    info = run.info
    request = replace(info, region=replace(info.region, kind=RegionKind.REQUEST))
    sent(receiver, run, replace(run, info=request))
    first, second = PushRequest.FromString(receiver.requests[0].body).series
    wanted = {
        "__name__": "wall", "service_name": "train-7", "region": info.label, "job": "train-7", "rank": "0",
        "host": "node3",
    }  # fmt: skip
    assert labels_of(first) == wanted
    assert labels_of(second) == {**wanted, "route": info.label}


def test_samples_are_summed_over_threads_and_read_back(receiver: Receiver) -> None:
    run = made_run()
    assert run.profile is not None
    sent(receiver, run)
    sent(receiver, run)
    first, again = (PushRequest.FromString(one.body).series[0].samples[0] for one in receiver.requests)
    assert (first.ID, first.raw_profile) == (again.ID, again.raw_profile)
    read = decode(gzip.compress(first.raw_profile), Path("x"), None)
    assert {thread.name for thread in read.threads} == {""}
    assert (read.total_weight, read.period_ns) == (run.profile.total_weight, run.profile.period_ns)
    assert sorted(read.weights_by_stack.values()) == sorted(run.profile.weights_by_stack.values())


@pytest.mark.parametrize(
    ("argv", "name"),
    [
        (("python", "/srv/app.py", "x"), "app"),
        (("python", "-m", "http.server"), "http.server"),
        (("python", "-c", "print()"), "python"),
        (("gunicorn",), "python"),
        ((), "python"),
    ],
)
def test_a_service_is_named_by_its_program(argv: tuple[str, ...], name: str) -> None:
    info = made_run().info
    assert service_of(replace(info, process=replace(info.process, argv=argv, member=Member()))) == name


def test_the_environment_has_what_urls_need_not_show(receiver: Receiver) -> None:
    environ = {
        "PYROSCOPE_APPLICATION_NAME": "shop", "PYROSCOPE_TENANT_ID": "b",
        "PYROSCOPE_BASIC_AUTH_USER": "u", "PYROSCOPE_BASIC_AUTH_PASSWORD": "p",
        "OTEL_SERVICE_NAME": "other", "OTEL_EXPORTER_OTLP_HEADERS": "Authorization=Bearer%20x, x-more=1",
    }  # fmt: skip
    sent(receiver, made_run(), environ=environ)
    sent(receiver, made_run(), environ=environ, url=f"otlp+http://{receiver.host}/?tenant=c")
    first, second = receiver.requests
    assert labels_of(PushRequest.FromString(first.body).series[0])["service_name"] == "shop"
    assert (first.headers["authorization"], first.headers["x-scope-orgid"]) == ("Basic dTpw", "b")
    assert (second.path, second.headers["content-type"]) == (otlp_http.PATH, "application/x-protobuf")
    assert (second.headers["authorization"], second.headers["x-more"]) == ("Bearer x", "1")
    assert second.headers["x-scope-orgid"] == "c"


CONNECT = json.dumps({"code": "invalid_argument", "message": "invalid labels"}).encode()


@pytest.mark.parametrize(
    ("respond", "kind", "said"),
    [
        (answer(400, CONNECT), RunsRefused, "it answered 400 Bad Request: invalid labels"),
        (answer(413), RunsRefused, f"it answered 413 {responses[413]}"),
        (answer(422, b"too old"), RunsRefused, f"it answered 422 {responses[422]}: too old"),
        (answer(401, b"no"), PlaceUnavailable, "it answered 401 Unauthorized: no"),
        (answer(404, b"<html>no</html>"), PlaceUnavailable, "it answered 404 Not Found"),
        (answer(429, CONNECT), PlaceUnavailable, "it answered 429 Too Many Requests: invalid labels"),
        (answer(503), PlaceUnavailable, "it answered 503 Service Unavailable"),
        (answer(301, Location="http://x/"), PlaceUnavailable, "it answered 301 Moved Permanently"),
        (answer(500, b"password=hunter2 " + b"a" * 10**6), PlaceUnavailable, "password=*** aaaa"),
        (answer(500, b"[" * 10**6), PlaceUnavailable, "it answered 500 Internal Server Error: [[["),
        (answer(500, bytes(range(256))), PlaceUnavailable, "it answered 500 Internal Server Error"),
        (answer(500, b'["x"]'), PlaceUnavailable, "it answered 500 Internal Server Error"),
    ],
)
def test_a_refusal_has_its_reason(
    receiver: Receiver, respond: Respond, kind: type[Exception], said: str
) -> None:
    receiver.respond = respond
    with pytest.raises((RunsRefused, PlaceUnavailable)) as caught:
        sent(receiver, made_run(), url=f"pyroscope+http://user:secret@{receiver.host}")
    assert type(caught.value) is kind
    assert said in str(caught.value)
    assert "secret" not in str(caught.value)
    assert len(str(caught.value)) < 700


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        (b"", ""),
        (b"\x0a\x00", ""),
        (b"\x0a\x07\x12\x05hello", ""),
        (b"\x0a\x09\x08\x02\x12\x05hello", "2 of its profiles were rejected: hello"),
        (b"\x0a\x02\x08\x01", "1 of its profiles were rejected: it does not say why"),
    ],
)
def test_what_an_otlp_server_keeps_of_a_request(receiver: Receiver, fields: bytes, said: str) -> None:
    receiver.respond = answer(200, fields)
    url = f"otlp+http://{receiver.host}"
    if not said:
        return sent(receiver, made_run(), url=url)
    with pytest.raises(RunsRefused, match=said):
        sent(receiver, made_run(), url=url)
    return None


@pytest.mark.parametrize("body", [b"\x0a\xff", b"\x0a\x05\x08", b"<html>", b"x" * 10**6])
@pytest.mark.parametrize("kind", ["pyroscope", "otlp"])
def test_a_success_with_another_body_is_one(receiver: Receiver, kind: str, body: bytes) -> None:
    receiver.respond = answer(200, body)
    sent(receiver, made_run(), url=f"{kind}+http://{receiver.host}")


def test_a_body_that_ends_early_changes_nothing(receiver: Receiver) -> None:
    def respond(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", "1000")
        handler.end_headers()
        handler.wfile.write(b"part")
        handler.close_connection = True

    receiver.respond = respond
    sent(receiver, made_run())


def close_early(handler: BaseHTTPRequestHandler) -> None:
    handler.close_connection = True


def no_http(handler: BaseHTTPRequestHandler) -> None:
    handler.wfile.write(b"hello\r\n\r\n")
    handler.close_connection = True


def endless_header(handler: BaseHTTPRequestHandler) -> None:
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nX: " + b"a" * 10**6)


@pytest.mark.parametrize(
    ("respond", "said"),
    [
        (close_early, "Remote end closed connection without response"),
        (no_http, "it does not answer as an HTTP server does (BadStatusLine)"),
        (endless_header, "it does not answer as an HTTP server does (LineTooLong)"),
    ],
)
def test_a_server_that_is_none_is_reported(receiver: Receiver, respond: Respond, said: str) -> None:
    receiver.respond = respond
    with pytest.raises(PlaceUnavailable) as caught:
        sent(receiver, made_run())
    assert said in str(caught.value)


@pytest.mark.parametrize("writes", [b"", b"HTTP/1.1 200 OK\r\n", b"HTTP/1.1 200 OK\r\n\r\n"])
def test_a_server_that_answers_too_slowly_is_left(receiver: Receiver, writes: bytes) -> None:
    def respond(handler: BaseHTTPRequestHandler) -> None:
        handler.wfile.write(writes)
        while not receiver.ended.wait(0.02):
            handler.wfile.write(b"X: y\r\n" if writes else b"")

    receiver.respond = respond
    server = ProfileServer(f"pyroscope+http://{receiver.host}", NOTHING, timeout_s=0.3)
    with pytest.raises(PlaceUnavailable, match=r"it has not answered within 0\.3 s; what was not sent is"):
        server.send("s", (made_run(),))


def test_no_server_is_reported(receiver: Receiver) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        with pytest.raises(PlaceUnavailable, match="Connection refused"):
            sent(receiver, made_run(), url=f"pyroscope+http://127.0.0.1:{port}")
    said = r"127\.0\.0\.1.* a connection by TLS fails \(.*; if it speaks no TLS, write http instead of https$"
    with pytest.raises(PlaceUnavailable, match=said):
        sent(receiver, made_run(), url=f"pyroscope+https://{receiver.host}")


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("pyroscope+http://", "names no host; write it as pyroscope+http://HOST:PORT"),
        ("otlp+https://:4318", "names no host; write it as otlp+http://HOST:PORT"),
        ("pyroscope+http://h:x", "is no URL"),
        ("pyroscope+http://u:secret@[h", "is no URL"),
        ("pyroscope+http://u:secret@h?tenent=a", "has no parameter 'tenent'; its parameters are"),
    ],
)
def test_a_url_that_names_no_server_is_reported(url: str, said: str) -> None:
    with pytest.raises(PlaceUnavailable) as caught:
        ProfileServer(url, NOTHING)
    assert said in str(caught.value)
    assert "secret" not in str(caught.value)


def test_no_header_is_smuggled_in(receiver: Receiver) -> None:
    with pytest.raises(PlaceUnavailable, match="characters that are not allowed") as caught:
        sent(receiver, made_run(), url=f"pyroscope+http://{receiver.host}?tenant=secret%0d%0aX:%201")
    assert "X: 1" not in str(caught.value)
    assert receiver.requests == []


@pytest.mark.parametrize(
    ("name", "is_trusted", "problem"),
    [
        ("IP:127.0.0.1", True, ""),
        ("IP:127.0.0.1", False, "its certificate is not accepted: self-signed certificate"),
        ("DNS:other.example", True, "its certificate is not accepted: IP address mismatch"),
    ],
)
def test_requests_by_tls_arrive_only_if_the_certificate_is_accepted(
    name: str, is_trusted: bool, problem: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    certificate = self_made_certificate(tmp_path, name)
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate if is_trusted else tmp_path / "none.pem"))
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(certificate)
    with receiving(tls=tls) as receiver:
        url = f"pyroscope+https://{receiver.host}"
        if not problem:
            sent(receiver, made_run(), url=url)
            assert len(receiver.requests) == 1
            return
        with pytest.raises(PlaceUnavailable) as raised:
            sent(receiver, made_run(), url=url)
    assert problem in str(raised.value)
    assert "\n" not in str(raised.value)
    assert receiver.requests == []


def self_made_certificate(folder: Path, name: str) -> Path:
    """Make a certificate for a name, with its key in the same file."""
    path = folder / "server.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-noenc",
         "-days", "2", "-subj", "/CN=profiles", "-addext", f"subjectAltName={name}",
         "-keyout", path, "-out", folder / "certificate.pem"],
        check=True, capture_output=True,
    )  # fmt: skip
    with path.open("ab") as file:
        file.write((folder / "certificate.pem").read_bytes())
    return path
