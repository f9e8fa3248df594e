"""128-byte lines under boxes and under warp accesses, against cases worked out by hand."""

import numpy as np
import pytest

from phobos_nb.simulate.lines import LINE, SECTOR, box_lines, fewest, touched


@pytest.mark.parametrize(
    ("base", "shape", "strides", "itemsize", "lines", "longer"),
    [
        (0, (16, 32), (2000, 2), 2, 22, {1, 3, 6, 9, 11, 14}),
        (0, (16, 64), (2048, 2), 2, 16, set()),
        (64, (8, 24), (4000, 4), 4, 12, {0, 1, 4, 5}),
        (4, (1024,), (4,), 4, 33, {0}),
        (0, (1024,), (4,), 4, 32, set()),
    ],
)
def test_lines_of_a_box(base, shape, strides, itemsize, lines, longer):
    """The lines of a tile, and which of its rows need one more than the fewest."""
    box = box_lines(base, shape, strides, itemsize)
    assert box.lines == lines
    assert {i for i, n in enumerate(box.rows) if n} == longer
    assert box.extra == len(longer)


def test_lines_and_sectors_of_a_warp():
    """A shifted warp touches one line and one sector more; a strided one a sector per lane."""
    addresses = np.stack([np.arange(32) * 4, np.arange(32) * 4 + 4, np.arange(32) * 64])
    active = np.ones((3, 32), bool)
    assert touched(addresses, active, 4, LINE).tolist() == [1, 2, 16]
    assert touched(addresses, active, 4, SECTOR).tolist() == [4, 5, 32]
    assert fewest(addresses, active, 4, SECTOR).tolist() == [4, 4, 4]
