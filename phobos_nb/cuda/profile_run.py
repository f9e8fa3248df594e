"""The process that Nsight Compute watches: makes stored calls and nothing else. Needs no xDSL.

usage: python -m phobos_nb.cuda.profile_run CALL.pickle ...
"""

from __future__ import annotations

import sys
from pathlib import Path

from phobos_nb.cuda.stored_call import read_call


def main() -> None:
    """Make the calls in order."""
    for path in sys.argv[1:]:
        read_call(Path(path)).launch()


if __name__ == "__main__":
    main()
