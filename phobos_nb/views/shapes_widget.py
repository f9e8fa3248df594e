"""A search of several shapes in the browser: what the set loses where, and each shape's own search."""

from __future__ import annotations

from typing import Any, cast

import ipywidgets

from phobos_nb.tune.shapes_result import ShapesTuning
from phobos_nb.views.autotune_widget import AutotuneWidget
from phobos_nb.views.cells import belongs_to_this_cell
from phobos_nb.views.shapes_html import page

WIDGETS: Any = cast(Any, ipywidgets)
"""ipywidgets has no types."""


class ShapesWidget(WIDGETS.VBox):
    """The table of losses, a choice of the shape, and below it the view of that shape's search."""

    def __init__(self, found: ShapesTuning) -> None:
        self._found = found
        self._views: dict[int, AutotuneWidget] = {}
        names = [
            (" ".join(f"{n}={v}" for n, v in t.record.identity.extents.items()), i)
            for i, t in enumerate(found.tunings)
        ]
        self.choice: Any = WIDGETS.Dropdown(options=names, description="search of")
        self.choice.observe(self._changed, names="value")
        self._table: Any = WIDGETS.HTML(page(found))
        box: Any = super()
        box.__init__([self._table, self.choice, self.view_of(0)])

    def view_of(self, shape: int) -> AutotuneWidget:
        """The view of one shape's search, made when it is first asked for."""
        if shape not in self._views:
            self._views[shape] = AutotuneWidget(self._found.tunings[shape], self._found.kernel)
        return self._views[shape]

    def close(self) -> None:
        """End this view and those of the shapes."""
        for view in (*self._views.values(), self.choice, self._table):
            view.close()
        box: Any = super()
        box.close()

    def _changed(self, change: Any) -> None:
        self.children = [self._table, self.choice, self.view_of(change["new"])]

    def _repr_mimebundle_(self, **options: Any) -> Any:
        """The widget, and beside it what a saved notebook shows."""
        box: Any = super()
        data: dict[str, Any] = box._repr_mimebundle_(**options)
        belongs_to_this_cell(self)
        return {**data, "text/plain": repr(self._found), "text/html": page(self._found)}
