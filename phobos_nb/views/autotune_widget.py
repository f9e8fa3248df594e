"""The live view of a search: points appear while it runs; one can be picked, compared, put to use."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import anywidget
import traitlets

from phobos_nb.compilation.compilation import Compilation
from phobos_nb.compilation.kernel import Kernel
from phobos_nb.diagnostics import PhobosError
from phobos_nb.files import write_whole
from phobos_nb.tune import records, t4
from phobos_nb.tune.live import LiveSearch
from phobos_nb.tune.records import Record
from phobos_nb.tune.result import Tuning
from phobos_nb.tune.yardstick import measures_of
from phobos_nb.views.autotune import AutotuneView, view_of_record
from phobos_nb.views.autotune_html import page
from phobos_nb.views.autotune_text import headline, text
from phobos_nb.views.cells import belongs_to_this_cell
from phobos_nb.views.difference import differences
from phobos_nb.views.from_compilation import remarks_of
from phobos_nb.views.html import style

HERE = Path(__file__).parent

SCRIPTS = ("draw", "points", "map", "parallel", "panel")
"""Parts of the script, `autotune_NAME.js`, in the order in which they are joined before the last."""

SECONDS_BETWEEN = 0.1
"""Between two updates of the browser while a search runs, at least."""

SHARE = 0.2
"""Of its time a search spends at most on updates; a big space is shown less often."""


SUFFIXES = {"T4": "t4.json", "record": "record.json", "configuration": "config.json"}
"""Kinds of export with the ends of their files' names."""


def configuration(record: Record, constants: Mapping[str, int]) -> dict[str, Any]:
    """One configuration and what it was measured for, as JSON's types."""
    identity = record.identity
    about = {
        "kernel": identity.kernel,
        "extents": dict(identity.extents),
        "dtypes": dict(identity.dtypes),
    }
    return {**about, "device": identity.device, "target": identity.target, "constants": dict(constants)}


def line_of(record: Record, constants: Mapping[str, int]) -> str:
    """The line of Python that fixes a configuration."""
    return f"{record.identity.kernel}.specialize({_settings(constants)})"


def _settings(constants: Mapping[str, int]) -> str:
    return ", ".join(f"{n}={v}" for n, v in constants.items())


def script() -> str:
    """The module that the browser loads."""
    files = [*(f"autotune_{name}.js" for name in SCRIPTS), "autotune.js"]
    return "\n".join((HERE / file).read_text("utf-8") for file in files)


class AutotuneWidget(anywidget.AnyWidget):
    """A search in the browser.

    view: the model of `autotune.AutotuneView` with a headline. shown: what is looked at: "tab"
    ("points", "map", "parallel"), "y" (a measure), "x" (a parameter, a fact, or "rank"), "rows" and
    "columns" of the map, "near" (only close to the best); what is absent has its default.
    picked, held: configurations' labels, from either side. used: the one that calls use now.
    progress: how far the search is. notes: of configurations that were picked.
    comparison: of two, see `compare`.
    """

    _esm = script()
    _css = style() + (HERE / "autotune.css").read_text("utf-8")
    view = traitlets.Dict().tag(sync=True)
    shown = traitlets.Dict().tag(sync=True)
    picked = traitlets.Unicode("").tag(sync=True)
    held = traitlets.Unicode("").tag(sync=True)
    used = traitlets.Unicode("").tag(sync=True)
    progress = traitlets.Dict().tag(sync=True)
    notes = traitlets.Dict().tag(sync=True)
    comparison = traitlets.Dict().tag(sync=True)
    message = traitlets.Unicode("").tag(sync=True)
    can_use = traitlets.Bool(False).tag(sync=True)

    def __init__(self, search: LiveSearch | Tuning, kernel: Kernel | None = None) -> None:
        self._search = search
        self._kernel = kernel or search.kernel
        self._measures = measures_of(search.record, self._kernel)
        self._updated, self._cost = 0.0, 0.0
        self._turn = threading.Lock()
        self._compiled: dict[str, Compilation] = {}
        self.closed = False
        self._forget = search.on_change(self._changed) if isinstance(search, LiveSearch) else None
        super().__init__(can_use=self._kernel is not None)
        listen = cast(Any, self).on_msg
        listen(self._receive)
        self.observe(self._explain, names=["picked"])
        self.refresh()

    # What is shown ----------------------------------------------------------------------------------

    @property
    def model(self) -> AutotuneView:
        """What is known now."""
        found = view_of_record(self._search.record, self._search.recorded)
        return replace(found, measures=self._measures)

    def refresh(self) -> None:
        """Send what is known now to the browser."""
        begun = time.perf_counter()
        shown = self.model
        with self.hold_sync():
            self.view = {**shown.to_plain(), "headline": headline(shown)}
            self.progress = self._progress()
        self._updated = time.perf_counter()
        self._cost = self._updated - begun

    def _progress(self) -> dict[str, Any]:
        search = self._search
        if not isinstance(search, LiveSearch):
            return {"stage": "", "done": 0, "total": 0, "left": None, "running": False}
        now, remark = search.pace, ""
        found = search.tuning
        if found is not None and not found.fresh and not search.recorded:
            remark = f"known from the search of {found.record.date}"
        return {
            "stage": now.stage,
            "done": now.done,
            "total": now.total,
            "left": now.seconds_left,
            "running": search.running,
            "can_resume": search.can_resume,
            "remark": remark,
            "problem": "" if search.error is None else f"the search ended: {search.error}",
        }

    def _changed(self) -> None:
        finished = isinstance(self._search, LiveSearch) and self._search.finished
        wait = max(SECONDS_BETWEEN, self._cost / SHARE)
        if finished or time.perf_counter() - self._updated > wait:
            self.refresh()

    def close(self) -> None:
        """End the view; a search that runs goes on, without it."""
        self.closed = True
        if self._forget is not None:
            self._forget()
        super().close()

    # What a person asks for -------------------------------------------------------------------------

    def use(self, label: str) -> None:
        """Let calls of the kernel use a configuration; `KeyError` for one without a time."""
        constants = self._constants(label)
        if self._kernel is not None:
            self._kernel.use(**constants)
            self.used = label
            settings = _settings(constants)
            self.message = f"calls use it now, as after {self._kernel.name}.use({settings})"

    def use_no_longer(self) -> None:
        """Let calls take again what was tuned, or the defaults."""
        if self._kernel is not None:
            self._kernel.use()
            self.used = ""
            self.message = f"calls take what was tuned again, as after {self._kernel.name}.use()"

    def compare(self, labels: Sequence[str]) -> None:
        """Show two configurations side by side; nothing for no labels.

        The numbers are there at once, the code of both, where there is a kernel, once it is compiled.
        """
        if not labels:
            self.comparison = {}
            return
        state = "" if self._kernel is None else "compiling both for the difference of their code ..."
        self.comparison = {"labels": list(labels), "state": state, "panes": []}
        if self._kernel is not None:
            self._in_background(lambda: self._compare_code(labels))

    def export(self, kind: str, label: str = "", folder: Path | None = None) -> Path:
        """Write a file and say where it is, by default in the notebook's folder.

        kind: "T4" or "record" for all configurations, "configuration" for the constants of `label`, by
        default the winner's.
        """
        record = self._search.record
        sizes = "x".join(str(v) for v in record.identity.extents.values())
        path = (folder or Path.cwd()) / f"{record.identity.kernel}-{sizes}.{SUFFIXES[kind]}"
        self.message = f"written: {path}"
        if kind == "configuration":
            constants = self._constants(label) if label else dict(record.best or {})
            write_whole(path, json.dumps(configuration(record, constants), indent=1) + "\n")
            self.message += f"; in Python: {line_of(record, constants)}"
        else:
            (t4 if kind == "T4" else records).write(record, path)
        return path

    def _export(self, kind: str, label: str) -> None:
        """As a button does it: what goes wrong is shown, there is no cell to raise it in."""
        try:
            self.export(kind, label)
        except OSError as error:
            self.message = f"not written: {error}"

    def _constants(self, label: str) -> Mapping[str, int]:
        shown: Any = self.view
        found = {p["label"]: p["constants"] for p in shown["points"] if p["ms"] is not None}
        return found[label]

    def _receive(self, _: Any, content: Any, __: Any) -> None:
        """A button of the browser: {"do": ..., and what it needs}."""
        what, search = content.get("do"), self._search
        if what == "use":
            self.use(str(content.get("label")))
        elif what == "unuse":
            self.use_no_longer()
        elif what == "compare":
            self.compare([str(name) for name in content.get("labels", ())])
        elif what == "export":
            self._export(str(content.get("kind")), str(content.get("label", "")))
        elif what == "stop" and isinstance(search, LiveSearch):
            search.stop()
        elif what == "resume" and isinstance(search, LiveSearch):
            search.resume()
            self.refresh()

    # The compiler's words ---------------------------------------------------------------------------

    def _explain(self, _: Any) -> None:
        """Add the compiler's notes on what was picked, once they are known."""
        label = self.picked
        if self._kernel is not None and label and label not in self.notes:
            self._in_background(lambda: self._add_notes(label))

    def _add_notes(self, label: str) -> None:
        """Compile it, unless another one was picked meanwhile, as with an arrow key held down."""
        if label != self.picked:
            return
        try:
            found = [note.text for note in remarks_of(self._compilation(label))]
        except PhobosError as error:
            found = [d.message for d in error.diagnostics]
        self.notes = {**self.notes, label: found}

    def _compare_code(self, labels: Sequence[str]) -> None:
        try:
            one, other = (self._compilation(label) for label in labels)
            panes = [pane.to_plain() for pane in differences(one, other)]
            state = "the code: - lines are A's, + lines are B's"
        except PhobosError as error:
            panes, state = [], f"no code to compare: {error.diagnostics[0].message}"
        if self.comparison.get("labels") == list(labels):
            self.comparison = {"labels": list(labels), "state": state, "panes": panes}

    def _compilation(self, label: str) -> Compilation:
        """The kernel compiled as the search compiled it, for unit-stride and aligned arrays."""
        kernel, record = self._kernel, self._search.record
        if kernel is None:
            raise ValueError("there is no kernel, only a record")
        if label not in self._compiled:
            bits = record.identity.index_bits
            chosen = kernel.specialize(**record.outcomes[label].constants)
            self._compiled[label] = chosen.compile(chip=record.identity.target, index_bits=bits)
        return self._compiled[label]

    def _in_background(self, work: Any) -> None:
        """Do it in a thread, after what was asked for before."""

        def in_turn() -> None:
            with self._turn:
                work()

        threading.Thread(target=in_turn, daemon=True, name="phobos view").start()

    def _repr_mimebundle_(self, **options: Any) -> Any:
        """The widget, and beside it what a saved notebook shows."""
        parent: Any = super()
        found: Any = None if self.closed else parent._repr_mimebundle_(**options)
        if found is not None:
            belongs_to_this_cell(self)
        shown = self.model
        static = {"text/plain": text(shown), "text/html": page(shown)}
        if found is None:
            return static
        data, metadata = found
        return {**data, **static}, metadata
