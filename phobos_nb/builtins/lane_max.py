"""The built-in `lane_max`."""

from __future__ import annotations

from phobos_nb.builtins.families import lowering
from phobos_nb.builtins.families.lanes import over_lanes
from phobos_nb.builtins.families.reductions import same_dtype
from phobos_nb.language.meaning.floats import maximum

SPEC = over_lanes(
    "lane_max",
    "The largest value over the lanes of the warp; NaN if one is NaN.",
    maximum,
    same_dtype,
    lowering.over_lanes("max"),
)
