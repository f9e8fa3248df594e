"""The live view of a search: points appear while it runs; one can be picked and put to use."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import anywidget
import traitlets

from phobos_nb.compilation.kernel import Kernel
from phobos_nb.tune.live import LiveSearch
from phobos_nb.tune.result import Tuning
from phobos_nb.views.autotune import headline, text, view_of, view_of_record
from phobos_nb.views.autotune_html import page
from phobos_nb.views.html import style

HERE = Path(__file__).parent

SECONDS_BETWEEN = 0.1
"""Between two updates of the browser while a search runs."""


class AutotuneWidget(anywidget.AnyWidget):
    """A search in the browser.

    view: the model of `autotune.AutotuneView` with a headline. picked: a configuration's label, from
    either side. used: the one that calls use now. running, rounds: how far the search is.
    """

    _esm = HERE / "autotune.js"
    _css = style() + (HERE / "autotune.css").read_text("utf-8")
    view = traitlets.Dict().tag(sync=True)
    picked = traitlets.Unicode("").tag(sync=True)
    used = traitlets.Unicode("").tag(sync=True)
    running = traitlets.Bool(False).tag(sync=True)
    rounds = traitlets.List([0, 0]).tag(sync=True)
    can_use = traitlets.Bool(False).tag(sync=True)

    def __init__(self, search: LiveSearch | Tuning, kernel: Kernel | None = None) -> None:
        self._search = search
        self._kernel = kernel or search.kernel
        self._updated = 0.0
        super().__init__(can_use=self._kernel is not None)
        listen = cast(Any, self).on_msg
        listen(self._receive)
        self.refresh()
        if isinstance(search, LiveSearch):
            search.on_change(self._changed)

    def refresh(self) -> None:
        """Send what is known now to the browser."""
        search = self._search
        if isinstance(search, LiveSearch):
            shown = view_of_record(search.record, search.recorded)
            running, rounds = search.running, list(search.rounds)
        else:
            shown, running, rounds = view_of(search), False, [0, 0]
        with self.hold_sync():
            self.view = {**shown.to_plain(), "headline": headline(shown), "title": shown.title}
            self.running, self.rounds = running, rounds
        self._updated = time.perf_counter()

    def use(self, label: str) -> None:
        """Let calls of the kernel use a configuration; `KeyError` for one without a time."""
        shown: Any = self.view
        constants = {p["label"]: p["constants"] for p in shown["points"] if p["ms"] is not None}
        chosen: Mapping[str, int] = constants[label]
        if self._kernel is not None:
            self._kernel.use(**chosen)
            self.used = label

    def _changed(self) -> None:
        finished = isinstance(self._search, LiveSearch) and self._search.finished
        if finished or time.perf_counter() - self._updated > SECONDS_BETWEEN:
            self.refresh()

    def _receive(self, _: Any, content: Any, __: Any) -> None:
        """A button of the browser: {"do": "use" or "stop", "label": ...}."""
        if content.get("do") == "stop" and isinstance(self._search, LiveSearch):
            self._search.stop()
        elif content.get("do") == "use":
            self.use(str(content.get("label")))

    def _repr_mimebundle_(self, **options: Any) -> Any:
        """The widget, and beside it what a saved notebook shows."""
        parent: Any = super()
        found: Any = parent._repr_mimebundle_(**options)
        search = self._search
        shown = (
            view_of(search)
            if isinstance(search, Tuning)
            else view_of_record(search.record, search.recorded)
        )
        static = {"text/plain": text(shown), "text/html": page(shown)}
        if found is None:
            return static
        data, metadata = found
        return {**data, **static}, metadata
