"""Widgets live as long as the output of a cell that shows them."""

import gc
import weakref

from phobos_nb.views.cells import Cells


class Widget:
    def __init__(self):
        self.closed = 0

    def close(self):
        self.closed += 1


def run(cells, cell, *shown):
    """One run of a cell that shows widgets."""
    cells.began(cell)
    for widget in shown:
        cells.show(widget, cell)
    cells.ended()


def test_a_cell_that_shows_another_widget_closes_the_one_before():
    """The second run's output has replaced the first one's."""
    cells, first, second = Cells(), Widget(), Widget()
    run(cells, "a", first)
    run(cells, "a", second)
    assert (first.closed, second.closed) == (1, 0)


def test_a_widget_that_is_shown_again_stays_open():
    """A cell that only says `view`."""
    cells, widget = Cells(), Widget()
    run(cells, "a", widget)
    run(cells, "a", widget)
    assert widget.closed == 0


def test_a_widget_in_two_cells_stays_until_both_have_gone_on():
    """Its other view is still on the page."""
    cells, widget = Cells(), Widget()
    run(cells, "a", widget)
    run(cells, "b", widget)
    run(cells, "a")
    assert widget.closed == 0
    run(cells, "b")
    assert widget.closed == 1


def test_several_widgets_of_one_run_live_together():
    """Neither closes the other."""
    cells, one, other = Cells(), Widget(), Widget()
    run(cells, "a", one, other)
    assert (one.closed, other.closed) == (0, 0)


def test_widgets_are_not_kept():
    """The table is weak: what nobody holds is gone."""
    cells, widget = Cells(), Widget()
    gone = weakref.ref(widget)
    run(cells, "a", widget)
    del widget
    gc.collect()
    assert gone() is None
