"""The tables of the store as they are now; `migrations` tells how a database gets there.

Names begin with `profkit_`, because a database may hold other things too. Text columns hold what SQL can
search; the whole truth about a run stands in its document.
"""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, ForeignKey, LargeBinary, MetaData, Table, Text

METADATA = MetaData()

RUN_SCHEMA = "profkit.run/2"
"""The form of a sampled run's document; `measured` has that of the others. What lacks `imported` is 1."""

# One row per migration that was applied.
MIGRATIONS = Table(
    "profkit_migrations",
    METADATA,
    # As in `migrations.MIGRATIONS`; a name that is unknown there comes from a newer profkit.
    Column("name", Text, primary_key=True),
    # Unix time, for people.
    Column("applied_ns", BigInteger, nullable=False),
)

# One row per run: what lists and look-ups need, and everything else as a document.
RUNS = Table(
    "profkit_runs",
    METADATA,
    # Hexadecimal digits; the same wherever and however often a session is read.
    Column("id", Text, primary_key=True),
    # The session that the run is part of, or the batch in which it was measured.
    Column("session", Text, nullable=False, index=True),
    # The label of the region or order; what SQL cannot hold of it is written as escapes.
    Column("label", Text, nullable=False, index=True),
    # Unix time of the region's first call, or of the start of measuring: "newest" and "older than" go by it.
    Column("started_ns", BigInteger, nullable=False, index=True),
    # The form of the document, which also tells a sampled run from a measured one.
    Column("schema", Text, nullable=False),
    # The RunInfo or MeasuredInfo as JSON, in ASCII.
    Column("document", Text, nullable=False),
)

# The samples of a run, apart from it so that lists never touch them. No row where there are none to keep.
PROFILES = Table(
    "profkit_profiles",
    METADATA,
    Column("run", Text, ForeignKey(RUNS.c.id), primary_key=True),
    # Gzipped pprof, as `formats.pprof` writes it.
    Column("pprof", LargeBinary, nullable=False),
)

# What the process used while the run was recorded. No row where nothing was measured.
RESOURCES = Table(
    "profkit_resources",
    METADATA,
    Column("run", Text, ForeignKey(RUNS.c.id), primary_key=True),
    # A JSON array of ResourcePoints in the form of the run's document, compressed by zlib.
    Column("points", LargeBinary, nullable=False),
)

# What was measured, apart from the run as samples are. No row where measuring failed.
MEASUREMENTS = Table(
    "profkit_measurements",
    METADATA,
    Column("run", Text, ForeignKey(RUNS.c.id), primary_key=True),
    # The Measurement as JSON in the form of the run's document, compressed by zlib.
    Column("document", LargeBinary, nullable=False),
)

# Runs that were removed on purpose: should their spool folder still be there, they do not come back.
REMOVED = Table(
    "profkit_removed",
    METADATA,
    Column("run", Text, primary_key=True),
)
