"""`profkit store`: make or upgrade the store, and roles of those who share it."""

from __future__ import annotations

import click

from profkit.cli.options import rare_option
from profkit.cli.output import say
from profkit.config import Config


@click.command("store")
@click.argument("action", type=click.Choice(["init"]))
@rare_option("--roles", is_flag=True, help="Make roles for those who share a PostgreSQL database.")
@click.pass_obj
def store_command(config: Config, action: str, roles: bool) -> None:
    """Make the store or upgrade it.

    Other commands do so, too, if they may. With --roles, PostgreSQL has the role profkit_writer, which sees
    and removes its own runs alone, profkit_reader, which sees all, and profkit_owner, which may do
    everything.
    """
    if roles:
        from profkit.store.roles import ROLES, make_roles

        name = make_roles(config.store_url)
        say("note", f"grant a role to each user, such as `GRANT {ROLES[1]} TO ann`")
    else:
        from profkit.store.runs import open_store

        with open_store(config.store_url) as store:
            name = store.name
    say("note", f"the store {name} is ready")
