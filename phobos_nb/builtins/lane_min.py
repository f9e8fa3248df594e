"""The built-in `lane_min`."""

from __future__ import annotations

from phobos_nb.builtins.families import lowering
from phobos_nb.builtins.families.lanes import over_lanes
from phobos_nb.builtins.families.reductions import same_dtype
from phobos_nb.language.meaning.floats import minimum

SPEC = over_lanes(
    "lane_min",
    "The smallest value over the lanes of the warp; NaN if one is NaN.",
    minimum,
    same_dtype,
    lowering.over_lanes("min"),
)
