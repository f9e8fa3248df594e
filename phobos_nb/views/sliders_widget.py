"""The sliders in the browser, and `Kernel.interact`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast
from weakref import WeakValueDictionary

import anywidget
import ipywidgets
import traitlets

from phobos_nb.compilation.kernel import Kernel
from phobos_nb.tune.live import LiveSearch
from phobos_nb.views.autotune_widget import AutotuneWidget
from phobos_nb.views.cells import belongs_to_this_cell
from phobos_nb.views.roofline_arguments import call_values
from phobos_nb.views.sliders import status, text
from phobos_nb.views.sliders_html import page, parts, sheet
from phobos_nb.views.sliders_session import Sliders

HERE = Path(__file__).parent

BY_REFERENCE: dict[str, Any] = cast(Any, ipywidgets).widget_serialization
"""How a widget is sent as the value of another's trait: by its model's name."""


class SlidersWidget(anywidget.AnyWidget):
    """Sliders in the browser.

    view: names, places and states of `sliders.SlidersView`. parts: what is shown below, as html. error:
    what a button ran into. exported, json: the configuration as text. search: the view of a search that
    was begun here. sliders: the session, for programs.
    """

    _esm = HERE / "sliders.js"
    _css = sheet()
    view = traitlets.Dict().tag(sync=True)
    parts = traitlets.Dict().tag(sync=True)
    status = traitlets.Unicode("").tag(sync=True)
    error = traitlets.Unicode("").tag(sync=True)
    tunes = traitlets.Unicode("").tag(sync=True)
    exported = traitlets.Unicode("").tag(sync=True)
    json = traitlets.Unicode("").tag(sync=True)
    search = traitlets.Instance(AutotuneWidget, allow_none=True).tag(sync=True, **BY_REFERENCE)

    def __init__(self, sliders: Sliders) -> None:
        self.sliders = sliders
        self.live: LiveSearch | None = None
        self._start = {p.name: sliders.constants.get(p.name) for p in sliders.parameters}
        where = "on the GPU" if sliders.on_gpu else "the NumPy meaning on the CPU: the arrays are there"
        super().__init__(tunes=f"Search all values of these sliders, {where}")
        listen = cast(Any, self).on_msg
        listen(self._receive)
        self.refresh()
        sliders.on_change(self.refresh)

    def refresh(self) -> None:
        """Send what is known now to the browser."""
        shown = self.sliders.view
        plain = shown.to_plain()
        kept = ("kernel", "title", "state", "label", "sliders", "compiled", "used", "constants")
        with self.hold_sync():
            self.view = {**{n: plain[n] for n in kept}, "stale": shown.stale}
            self.parts = parts(shown)
            self.status = status(shown)

    def tune(self, **options: Any) -> LiveSearch:
        """Begin a search from here and show it below; options as of `tune`."""
        self.live = self.sliders.tune(**options)
        self._end_search()
        self.search = AutotuneWidget(self.live, self.sliders.kernel)
        return self.live

    def close(self) -> None:
        """Take the view away and end the processes."""
        self.sliders.close()
        self._end_search()
        super().close()

    def _end_search(self) -> None:
        """Close the view of the search that was begun here; the search itself goes on."""
        shown: Any = self.search
        if shown is not None:
            shown.close()

    def _receive(self, _: Any, content: Any, __: Any) -> None:
        """A message of the browser: {"do": "move", "places": {name: value}}, or a button's name."""
        try:
            self.error = ""
            self._do(str(content.get("do")), content)
        except Exception as error:  # there is no cell to raise in: it is shown
            self.error = str(error)

    def _do(self, what: str, content: Mapping[str, Any]) -> None:
        match what:
            case "move":
                self.exported = ""
                self.sliders.move(content["places"])
            case "reset":
                self.sliders.move(self._start)
            case "use":
                self.sliders.use()
            case "export":
                self.json = self.sliders.export()
                self.exported = f"{self.sliders.line()}\n\n{self.json}"
            case "tune":
                self.tune()
            case _:
                raise ValueError(f"the browser asked for {what!r}")

    def _repr_mimebundle_(self, **options: Any) -> Any:
        """The widget, and beside it what a saved notebook shows."""
        parent: Any = super()
        found: Any = parent._repr_mimebundle_(**options)
        shown = self.sliders.view
        static = {"text/plain": text(shown), "text/html": page(shown)}
        if found is None:
            return static
        belongs_to_this_cell(self)
        data, metadata = found
        return {**data, **static}, metadata


_LAST: WeakValueDictionary[str, Sliders] = WeakValueDictionary()
"""The newest sliders by the kernel's name: a cell that runs again ends the processes of older ones."""


def interact(
    kernel: Kernel,
    *arguments: Any,
    grid: Any = None,
    choices: Mapping[str, int | Sequence[int]] | None = None,
    against: Any = None,
    **named: Any,
) -> SlidersWidget:
    """A slider per constant of a kernel; each move compiles anew, in another process.

    Takes the call's arguments, which stay as they are, or extents by symbol (`M=4096`), or nothing, for
    extents of 1024 or less. choices: values of sliders, as of `tune`; the compiler's own choices take
    part by name. against: peers to time beside, by default cuBLAS for a GEMM on a GPU.
    """
    kernel, values, made = call_values(kernel, arguments, named)
    older = _LAST.get(kernel.name)
    if older is not None:
        older.close()
    sliders = Sliders(kernel, values, grid, made=made, choices=choices, against=against)
    _LAST[kernel.name] = sliders
    return SlidersWidget(sliders)
