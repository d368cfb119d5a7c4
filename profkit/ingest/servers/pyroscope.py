"""Requests of Pyroscope's protocol `push.v1`, as `pyroscope-io` 1.4 sends them.

A request is a POST of gzipped protobuf: a series for each profile, which has labels and a file of pprof. The
messages are PushRequest, RawProfileSeries, LabelPair and RawSample of
https://github.com/grafana/pyroscope/tree/main/api/push/v1. The server keeps a UUID that the sender chose.
Names of labels have letters, digits and underscores only, which servers of all versions accept.
"""

from __future__ import annotations

import gzip
from collections.abc import Mapping, Sequence
from dataclasses import replace

from profkit.formats import wire
from profkit.formats.exact import escape_text
from profkit.formats.pprof import encode_timed
from profkit.formats.registry import span_of
from profkit.ingest.servers.facts import of_process, of_run, service_of, uuid_of
from profkit.model.profile import Profile, Sample, Thread
from profkit.model.run import Run

PATH = "/push.v1.PusherService/Push"
CONTENT_TYPE = "application/proto"

_NAME = "wall"
"""Name of profiles whose values are wall time, as Pyroscope's other clients call them."""
_SERIES = 1
_LABELS, _SAMPLES = 1, 2
_LABEL_NAME, _LABEL_VALUE = 1, 2
_RAW_PROFILE, _ID = 1, 2


def request_of(runs: Sequence[Run], service: str) -> bytes:
    """Return the request that sends runs with samples; an empty service is that of each run."""
    return b"".join(wire.blob(_SERIES, _series(run, service)) for run in runs)


def refusal_in(_: bytes) -> str:
    """Return why a server that has answered 200 keeps less than it was sent: never."""
    return ""


def _series(run: Run, service: str) -> bytes:
    info = run.info
    profile = gzip.decompress(encode_timed(_by_stack(run.profile or Profile()), span_of(info)))
    sample = wire.blob(_RAW_PROFILE, profile) + wire.blob(_ID, str(uuid_of(info)).encode())
    labels = {
        "__name__": _NAME,
        "service_name": service or service_of(info),
        **of_run(info),
        **of_process(info),
        "host": info.process.host,
    }
    return _labels(labels) + wire.blob(_SAMPLES, sample)


def _labels(labels: Mapping[str, str]) -> bytes:
    return b"".join(
        wire.blob(
            _LABELS,
            wire.blob(_LABEL_NAME, name.encode()) + wire.blob(_LABEL_VALUE, escape_text(value).encode()),
        )
        for name, value in labels.items()
        if value
    )


def _by_stack(profile: Profile) -> Profile:
    """Return the weights of stacks alone: the server would make a series of each thread's name."""
    samples = tuple(Sample(stack, 0, weight) for stack, weight in profile.weights_by_stack.items())
    threads = (Thread(0, 0, ""),) if samples else ()
    return replace(profile, threads=threads, samples=samples, ordered=False, starts=(), totals=())
