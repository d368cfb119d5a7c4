"""Requests of OTLP over HTTP for profiles, which are experimental; see `formats.otlp`.

Source: https://opentelemetry.io/docs/specs/otlp/#otlphttp.
"""

from __future__ import annotations

from collections.abc import Sequence

from profkit.formats import wire
from profkit.formats.otlp import Attributes, DescribedProfile, encode_profiles
from profkit.formats.registry import span_of
from profkit.ingest.servers.facts import of_process, of_run, service_of, uuid_of
from profkit.model.profile import Profile
from profkit.model.run import Run, RunInfo

PATH = "/v1development/profiles"
CONTENT_TYPE = "application/x-protobuf"

_PARTIAL_SUCCESS = 1
_REJECTED, _MESSAGE = 1, 2


def request_of(runs: Sequence[Run], service: str) -> bytes:
    """Return the request that sends the runs of one process; an empty service is that of the process."""
    return encode_profiles(map(_described, runs), _resource(runs[0].info, service))


def refusal_in(answer: bytes) -> str:
    """Return why a server that has answered 200 keeps less than it was sent; empty if it keeps all.

    Raises ValueError for an answer that is no message.
    """
    for partial in wire.fields_of(answer).get(_PARTIAL_SUCCESS, ()):
        fields = wire.fields_of(partial)
        rejected = wire.number_in(fields, _REJECTED)
        if rejected:
            reasons = [wire.bytes_of(value).decode(errors="replace") for value in fields.get(_MESSAGE, ())]
            return f"{rejected} of its profiles were rejected: {', '.join(reasons) or 'it does not say why'}"
    return ""


def _described(run: Run) -> DescribedProfile:
    info = run.info
    attributes = {f"profkit.{name}": value for name, value in of_run(info).items()}
    return DescribedProfile(run.profile or Profile(), span_of(info), uuid_of(info).bytes, attributes)


def _resource(info: RunInfo, service: str) -> Attributes:
    process = info.process
    known: dict[str, str | int] = {
        "service.name": service or service_of(info),
        "host.name": process.host,
        "process.pid": process.pid,
        "process.runtime.version": process.python,
    }
    of_job = {f"profkit.{name}": value for name, value in of_process(info).items()}
    return {name: value for name, value in (known | of_job).items() if value}
