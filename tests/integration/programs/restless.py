"""Starts and stops samplers until it is killed."""

from __future__ import annotations

from spinning import spin

from profkit import profile, profiled

rate = 100
with profiled("first", rate=rate):  # there is a session to be found, however soon the end comes
    spin(0.003)
print("begun", flush=True)
while True:
    rate = 100 + (rate + 1) % 100  # other options end one session and start another
    with profiled("block", rate=rate):
        spin(0.003)
    work = profile(label="work", rate=rate, threads=True)(spin)  # ends and begins a segment
    work(0.003)
    assert work.last_run is not None
