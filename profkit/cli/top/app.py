"""Application of `profkit top`: views, keys such as k, which keeps a run, resizing, and the refresh."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from textual import work
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import ContentSwitcher, Footer, Input, Static

from profkit.cli.top.flame import FlameView
from profkit.cli.top.functions import FunctionTable
from profkit.cli.top.showing import Showing
from profkit.cli.top.source import SourceView
from profkit.cli.top.status import HelpScreen, call_line, process_line, sampler_line, views_line
from profkit.cli.top.terminal import keep_modes_when_continued
from profkit.cli.top.threads import ThreadTable
from profkit.clock import SYSTEM_CLOCK, Clock
from profkit.errors import ProfkitError
from profkit.live.rows import Order
from profkit.live.saving import Origin, run_of
from profkit.live.source import LiveSource, State
from profkit.model.run import Run
from profkit.model.session import ResourcePoint
from profkit.units import short_id

_POLL_S = 0.25
_VIEWS = ("functions", "flame", "threads", "source")
_THEMES = ("ansi-dark", "ansi-light", "textual-dark", "textual-light")


@dataclass(frozen=True, slots=True)
class Actions:
    """What the application does outside of its screen."""

    keep: Callable[[Run], None]
    """Put a run into the store; raises ProfkitError."""
    is_asked_to_end: Callable[[], bool]
    """Return whether a signal asked the command to end."""
    label: str | None = None
    """Label of runs that are kept."""


class TopApp(App[None]):
    """Live view of a process; the source must sample already."""

    ENABLE_COMMAND_PALETTE = False
    CSS = """
    Screen { layout: vertical; }
    #process, #sampler, #views, #call { height: auto; padding: 0 1; }
    #switcher { height: 1fr; }
    FunctionTable, ThreadTable, SourceView, FlameView { height: 1fr; }
    DataTable:ansi > .datatable--header { background: ansi_default; text-style: bold; }
    #filter { display: none; height: 1; border: none; padding: 0 1; }
    #filter.open { display: block; }
    #call { display: none; }
    #call.open { display: block; }
    #lines { width: auto; padding: 0 1; }
    HelpScreen { align: center middle; }
    #help { width: 90%; max-width: 84; height: auto; max-height: 90%; border: round $primary; padding: 0 1;
            background: $surface; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("q", "quit", "Quit"),
        Binding("question_mark,h", "help", "Help", key_display="?"),
        Binding("p,space", "pause", "Pause"),
        Binding("w", "next_activity", "Working/waiting"),
        Binding("slash", "filter", "Filter", key_display="/"),
        Binding("k", "keep", "Keep"),
        Binding("r", "reset", "Reset"),
        Binding("ctrl+c,ctrl+q", "quit", show=False, priority=True),
        Binding("ctrl+z", "suspend_process", show=False, priority=True),
        *(Binding(str(n + 1), f"view('{name}')", show=False) for n, name in enumerate(_VIEWS)),
        Binding("tab", "next_view(1)", show=False, priority=True),
        Binding("shift+tab", "next_view(-1)", show=False, priority=True),
        Binding("s", "order('RECENT_SELF')", show=False),
        Binding("t", "order('RECENT_TOTAL')", show=False),
        Binding("S,upper_s", "order('SELF')", show=False),
        Binding("T,upper_t", "order('TOTAL')", show=False),
        Binding("n", "order('NAME')", show=False),
        Binding("a", "all_threads", show=False),
        Binding("o", "span", show=False),
        Binding("plus,equals_sign", "window(1)", show=False),
        Binding("minus", "window(-1)", show=False),
        Binding("c", "colors", show=False),
        Binding("escape", "clear", show=False),
    ]

    def __init__(
        self, source: LiveSource, showing: Showing, actions: Actions, clock: Clock = SYSTEM_CLOCK
    ) -> None:
        # Decided before the theme is set, as textual chooses the filter that removes colors.
        super().__init__(ansi_color=True if "NO_COLOR" in os.environ else None)
        self._source, self.showing, self._actions, self._clock = source, showing, actions, clock
        self._points: list[ResourcePoint] = []
        self._reset_s = float("-inf")
        """Time of the last reset."""
        self.kept: list[str] = []
        """Ids of the runs that were kept."""
        self._views = (
            FunctionTable(showing), FlameView(showing), ThreadTable(showing), SourceView(showing)
        )  # fmt: skip
        # Not by `query_one`, which looks at the screen in front: that may be the help.
        self._lines = {name: Static(id=name) for name in ("process", "sampler", "views", "call")}
        self._switcher = ContentSwitcher(initial="functions", id="switcher")
        self._filter = Input(placeholder="part of a function's or file's name", id="filter", compact=True)
        self.theme = "ansi-light" if _is_light(os.environ.get("COLORFGBG", "")) else "ansi-dark"

    def compose(self) -> ComposeResult:
        """Return the content of the screen."""
        yield self._lines["process"]
        yield self._lines["sampler"]
        yield self._lines["views"]
        with self._switcher:
            yield from self._views
        yield self._lines["call"]
        yield self._filter
        yield Footer(show_command_palette=False, compact=True)

    def on_mount(self) -> None:
        """Begin to show what is sampled."""
        keep_modes_when_continued(lambda: self.refresh(layout=True))
        self.set_interval(_POLL_S, self._poll)
        self._views[0].focus()
        self._refresh_view()

    @property
    def current(self) -> int:
        """Place of the view that is shown."""
        return _VIEWS.index(self._switcher.current or _VIEWS[0])

    def _poll(self) -> None:
        """Take new samples, and refresh what shows them."""
        if self._actions.is_asked_to_end():
            self.exit()
            return
        batches = self._source.take()
        self._points += self._source.take_resources()
        for batch in batches:
            if batch.began_s >= self._reset_s:
                self.showing.samples.add(batch)
        if batches:
            self._refresh_view()
        else:
            self._refresh_lines()

    def _refresh_view(self) -> None:
        self._views[self.current].refresh_rows()
        self._refresh_lines()

    def _refresh_lines(self) -> None:
        now_s, showing = self._clock.monotonic_s(), self.showing
        self._lines["process"].update(process_line(self._source))
        self._lines["sampler"].update(sampler_line(self._source, showing, now_s))
        titles = [name.capitalize() for name in _VIEWS]
        self._lines["views"].update(views_line(titles, self.current, showing, self.size.width))
        call, flame = self._lines["call"], self._flame
        call.set_class(self.current == 1, "open")
        call.update(call_line(flame.selected, flame.whole, showing, is_zoomed=bool(flame.zoomed)))

    @property
    def _flame(self) -> FlameView:
        return self._views[1]

    def on_resize(self) -> None:
        """Use the new width."""
        self._refresh_lines()

    def action_view(self, name: str) -> None:
        """Show a view."""
        self._switcher.current = name
        self._views[self.current].focus()
        self._refresh_view()

    def action_next_view(self, step: int) -> None:
        """Show the next view."""
        self.action_view(_VIEWS[(self.current + step) % len(_VIEWS)])

    def action_help(self) -> None:
        """Show the keys."""
        self.push_screen(HelpScreen())

    def action_pause(self) -> None:
        """Stop sampling, or continue."""
        if self._source.status.state is State.PAUSED:
            self._source.resume()
        else:
            self._source.pause()

    def action_next_activity(self) -> None:
        """Show working threads, waiting ones, or both."""
        self.showing.next_activity()
        self._refresh_view()

    def action_all_threads(self) -> None:
        """Show all threads."""
        self.showing.choose_thread(None)
        self._refresh_view()

    def action_order(self, name: str) -> None:
        """Sort the functions, and show them."""
        self.showing.order = Order[name]
        self.action_view("functions")

    def action_span(self) -> None:
        """Show all samples, or those of the last seconds."""
        self.showing.since_start = not self.showing.since_start
        self._refresh_view()

    def action_window(self, step: int) -> None:
        """Show more or fewer seconds."""
        self.showing.change_window(step)
        self._refresh_view()

    def action_colors(self) -> None:
        """Use other colors."""
        place = _THEMES.index(self.theme) + 1 if self.theme in _THEMES else 0
        self.theme = _THEMES[place % len(_THEMES)]
        self.notify(f"colors: {self.theme.replace('ansi', 'the terminal’s,').replace('-', ' ')}", timeout=2)

    def action_reset(self) -> None:
        """Forget all samples, also those of a segment that has not ended."""
        self._reset_s = self._clock.monotonic_s()
        self.showing.samples.reset()
        self._points.clear()
        self._refresh_view()

    def action_filter(self) -> None:
        """Ask for a part of a name."""
        field = self._filter
        field.add_class("open")
        field.focus()

    def action_clear(self) -> None:
        """Clear the filter."""
        field = self._filter
        field.value = ""
        self._close_filter(field)

    def on_input_changed(self, event: Input.Changed) -> None:
        """Filter while the user types."""
        self.showing.text = event.value
        self._refresh_view()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Keep the filter."""
        self._close_filter(event.input)

    def _close_filter(self, field: Input) -> None:
        field.remove_class("open")
        self._views[self.current].focus()
        self._refresh_view()

    def on_function_table_opened(self, event: FunctionTable.Opened) -> None:
        """Show the source of a function."""
        self.action_view("source")
        self._views[3].open(event.function)

    def on_function_table_order_wanted(self, event: FunctionTable.OrderWanted) -> None:
        """Sort the functions."""
        self.action_order(event.order.name)

    def on_thread_table_chosen(self, event: ThreadTable.Chosen) -> None:
        """Show only a thread."""
        self.showing.choose_thread(event.thread)
        self.action_view("functions")

    def on_flame_view_moved(self) -> None:
        """Describe the call that is selected now."""
        self._refresh_lines()

    def action_keep(self) -> None:
        """Keep the samples as a run."""
        origin, points = Origin.of(self._source), tuple(self._points)
        run = run_of(self.showing.samples, origin, self._actions.label, points, self._clock)
        if run is None:
            self.notify("there are no samples yet", severity="warning")
        else:
            self._keep(run)

    @work(thread=True)
    def _keep(self, run: Run) -> None:
        try:
            self._actions.keep(run)
        except ProfkitError as error:
            self.call_from_thread(self.notify, str(error), severity="error", markup=False)
            return
        self.kept.append(run.info.id)
        shown = f"run {short_id(run.info.id)}: `profkit report {short_id(run.info.id)}` shows it"
        self.call_from_thread(self.notify, shown, title="Kept", markup=False, timeout=10)


def _is_light(colors: str) -> bool:
    """Return whether COLORFGBG, as some terminals set it, says that the background is light."""
    background = colors.rpartition(";")[2]
    return background.isdecimal() and int(background) in (7, *range(9, 16))
