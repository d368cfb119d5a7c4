"""`profkit history`: results for a label, commit by commit."""

from __future__ import annotations

import click

from profkit.cli.options import limit_option
from profkit.cli.report_output import Showing, showing_options
from profkit.cli.workspace import complete_label, current_folder, open_workspace
from profkit.config import Config
from profkit.errors import UsageError
from profkit.model.measurement import MeasuredInfo
from profkit.model.run import Run
from profkit.process.git import commit_times_s
from profkit.render.options import ReportOptions
from profkit.render.registry import HISTORY


@click.command("history")
@click.argument("label", shell_complete=complete_label)
@showing_options(HISTORY.formats)
@limit_option("Maximum number of commits, newest first.  [default: 20]")
@click.pass_obj
def history_command(config: Config, /, label: str, limit: int | None, **given: object) -> None:
    """Show results for a label, commit by commit.

    The value of a commit is the median time, or the instruction count, of its measured runs, and the mean
    time of a call of its sampled runs. Each order with that label has its own table. Commits are in the
    order in which they were made, if the repository here knows them.
    """
    from profkit.comparing.history import history_of

    showing = Showing.of(given, HISTORY.formats)
    with open_workspace(config) as workspace:
        infos = workspace.runs(label, None)
        if not infos:
            raise workspace.not_found(label)
        # The samples of sampled runs are not needed here, and take long to load.
        runs = [workspace.load(info) if isinstance(info, MeasuredInfo) else Run(info) for info in infos]
    commits = {info.process.git_commit for info in infos if info.process.git_commit}
    history = history_of(label, runs, commit_times_s(sorted(commits), current_folder()))
    if not history.series:
        raise UsageError(f"the runs of {label!r} have no numbers", "see them with `profkit list`")
    options = ReportOptions(limit=limit)
    showing.show(HISTORY.renderer(showing.format)(history, options, showing.terminal()), "history")
