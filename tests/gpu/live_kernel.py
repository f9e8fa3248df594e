"""A notebook in a real Jupyter kernel, whose widgets are driven as a browser drives them.

Cells run through nbclient. Between cells messages of the kernel are taken in all the same, so that what
a background search sends is seen when it is sent, and what a button would send can be sent.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from queue import Empty
from typing import Any

import nbformat
from nbclient import NotebookClient

SECONDS = 90.0
"""A cell may take, or what a driver waits for."""


@dataclass
class Change:
    """One message that changed a widget's state: after how many seconds, of which widget, what."""

    at: float
    comm: str
    state: dict[str, Any]


@dataclass
class Seen:
    """All changes of widgets, in order of arrival."""

    begun: float = field(default_factory=time.perf_counter)
    changes: list[Change] = field(default_factory=list[Change])

    def note(self, comm: str, state: dict[str, Any]) -> None:
        self.changes.append(Change(time.perf_counter() - self.begun, comm, state))


class Client(NotebookClient):
    """NotebookClient that keeps every change of a widget, not only the last."""

    def __init__(self, notebook: Any, **options: Any) -> None:
        self.seen = Seen()
        super().__init__(notebook, timeout=int(SECONDS), store_widget_state=True, **options)

    def handle_comm_msg(self, outs: Any, msg: Any, cell_index: int) -> None:
        data = msg["content"].get("data", {})
        if "state" in data:
            self.seen.note(msg["content"]["comm_id"], data["state"])
        super().handle_comm_msg(outs, msg, cell_index)


class LiveKernel:
    """Cells added and run one after another in the folder of a notebook, which is written at the end."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.notebook = nbformat.v4.new_notebook()
        self.notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3"}
        self._loop = asyncio.new_event_loop()
        self._client = Client(self.notebook, resources={"metadata": {"path": str(path.parent)}})
        self._setup: Any = None

    def __enter__(self) -> LiveKernel:
        self._setup = self._client.async_setup_kernel()
        self._loop.run_until_complete(self._setup.__aenter__())
        self._client.reset_execution_trackers()
        return self

    def __exit__(self, *error: Any) -> None:
        self._loop.run_until_complete(self._setup.__aexit__(*error))
        self._client.set_widgets_metadata()
        nbformat.write(self.notebook, self._path)
        self._loop.close()

    @property
    def seen(self) -> Seen:
        """What widgets have sent so far."""
        return self._client.seen

    def run(self, source: str) -> Any:
        """Run a new cell to its end; the cell with its outputs."""
        cell = nbformat.v4.new_code_cell(source)
        self.notebook.cells.append(cell)
        index = len(self.notebook.cells) - 1
        self._loop.run_until_complete(self._client.async_execute_cell(cell, index))
        return cell

    def state(self, comm: str) -> dict[str, Any]:
        """The state of a widget as a browser would have it."""
        return self._client.widget_state[comm]

    def wait(self, comm: str, ready: Callable[[dict[str, Any]], bool], what: str) -> float:
        """Take messages in until a widget's state is as wanted; the seconds that took."""
        begun = time.perf_counter()
        while not ready(self.state(comm)):
            if time.perf_counter() - begun > SECONDS:
                raise TimeoutError(f"waited for {what}; {list(self.state(comm).items())[-12:]}"[:2000])
            self._take_one()
        return time.perf_counter() - begun

    def send(self, comm: str, data: dict[str, Any]) -> None:
        """What a browser sends to a widget."""
        client: Any = self._client.kc
        client.shell_channel.send(
            client.session.msg("comm_msg", {"comm_id": comm, "data": {"buffer_paths": [], **data}})
        )

    def press(self, comm: str, **content: Any) -> None:
        """A button."""
        self.send(comm, {"method": "custom", "content": content})

    def set(self, comm: str, **state: Any) -> None:
        """A trait, such as what is picked."""
        self.send(comm, {"method": "update", "state": state})

    def _take_one(self) -> None:
        client: Any = self._client.kc
        try:
            message = self._loop.run_until_complete(client.get_iopub_msg(timeout=0.2))
        except Empty:
            return
        if message["msg_type"].startswith("comm"):
            self._client.process_message(message, self.notebook.cells[-1], len(self.notebook.cells) - 1)


def widget_of(cell: Any) -> str:
    """The widget that a cell shows, by its model's name."""
    for output in cell.outputs:
        view = output.get("data", {}).get("application/vnd.jupyter.widget-view+json")
        if view is not None:
            return str(view["model_id"])
    raise ValueError(f"no widget in {[o.get('data', o) for o in cell.outputs]}"[:800])
