"""Run with secrets on the command line and in the environment, which its profile records."""

from __future__ import annotations

from benchmarks.faults.programs.owned import spin
from profkit import profile


@profile(label="secretive", recorded_env_variables=["API_KEY", "DB_PASSWORD", "AWS_SECRET_ACCESS_KEY"])
def work() -> None:
    """Make one call."""
    spin(0.3)


if __name__ == "__main__":
    work()
