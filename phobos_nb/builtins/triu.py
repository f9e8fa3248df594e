"""The built-in `triu`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from phobos_nb.builtins.families import lowering
from phobos_nb.builtins.families.triangles import check
from phobos_nb.language.registry import Builtin
from phobos_nb.language.typed import Call


def reference(machine: Any, call: Call, tile: NDArray[Any]) -> NDArray[Any]:  # noqa: ARG001
    """The other elements are zero, whatever they were."""
    return np.triu(tile, int(call.attributes["diagonal"]))


SPEC = Builtin(
    name="triu",
    group="shape",
    signature="triu(t: tile[R, C], k = 0) -> tile[R, C]",
    doc="The elements at column >= row + k; zero elsewhere.",
    check=check,
    reference=reference,
    build=lowering.triangle(lower=False),
)
