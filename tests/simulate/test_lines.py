"""128-byte lines and sectors under warp accesses, against cases worked out by hand."""

import numpy as np

from phobos_nb.simulate.lines import LINE, SECTOR, fewest, touched


def test_lines_and_sectors_of_a_warp():
    """A shifted warp touches one line and one sector more; a strided one a sector per lane."""
    addresses = np.stack([np.arange(32) * 4, np.arange(32) * 4 + 4, np.arange(32) * 64])
    active = np.ones((3, 32), bool)
    assert touched(addresses, active, 4, LINE).tolist() == [1, 2, 16]
    assert touched(addresses, active, 4, SECTOR).tolist() == [4, 5, 32]
    assert fewest(addresses, active, 4, SECTOR).tolist() == [4, 4, 4]
