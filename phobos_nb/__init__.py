"""A Jupyter-native kit for writing GPU kernels in the Phobos tile language.

The names below are resolved when they are first used, so importing the package loads nothing else.
"""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from phobos_nb.compilation.compilation import Compilation as Compilation
    from phobos_nb.compilation.dispatch_table import DispatchTable as DispatchTable
    from phobos_nb.compilation.kernel import Kernel as Kernel
    from phobos_nb.compilation.module import Module as Module
    from phobos_nb.compilation.module import compile as compile
    from phobos_nb.compilation.module import load as load
    from phobos_nb.diagnostics import PhobosError as PhobosError
    from phobos_nb.diagnostics import PhobosWarning as PhobosWarning
    from phobos_nb.magic import load_ipython_extension as load_ipython_extension
    from phobos_nb.tune.autotune import autotune as autotune
    from phobos_nb.tune.live import autotune_live as autotune_live
    from phobos_nb.tune.result import Tuning as Tuning
    from phobos_nb.tune.shapes_result import ShapesTuning as ShapesTuning
    from phobos_nb.views.autotune_widget import AutotuneWidget as AutotuneWidget
    from phobos_nb.views.difference_of import diff as diff
    from phobos_nb.views.roofline_of import Roofline as Roofline
    from phobos_nb.views.roofline_of import roofline as roofline
    from phobos_nb.views.shapes_widget import ShapesWidget as ShapesWidget
    from phobos_nb.views.sliders_widget import SlidersWidget as SlidersWidget
    from phobos_nb.views.sliders_widget import interact as interact

__version__ = "0.1.0"

_HOMES = {
    "AutotuneWidget": "phobos_nb.views.autotune_widget",
    "Compilation": "phobos_nb.compilation.compilation",
    "DispatchTable": "phobos_nb.compilation.dispatch_table",
    "Kernel": "phobos_nb.compilation.kernel",
    "Module": "phobos_nb.compilation.module",
    "PhobosError": "phobos_nb.diagnostics",
    "PhobosWarning": "phobos_nb.diagnostics",
    "ShapesWidget": "phobos_nb.views.shapes_widget",
    "ShapesTuning": "phobos_nb.tune.shapes_result",
    "Roofline": "phobos_nb.views.roofline_of",
    "SlidersWidget": "phobos_nb.views.sliders_widget",
    "Tuning": "phobos_nb.tune.result",
    "autotune": "phobos_nb.tune.autotune",
    "autotune_live": "phobos_nb.tune.live",
    "compile": "phobos_nb.compilation.module",
    "diff": "phobos_nb.views.difference_of",
    "interact": "phobos_nb.views.sliders_widget",
    "load": "phobos_nb.compilation.module",
    "load_ipython_extension": "phobos_nb.magic",
    "roofline": "phobos_nb.views.roofline_of",
}

__all__ = [
    "AutotuneWidget",
    "Compilation",
    "DispatchTable",
    "Kernel",
    "Module",
    "PhobosError",
    "PhobosWarning",
    "Roofline",
    "ShapesTuning",
    "ShapesWidget",
    "SlidersWidget",
    "Tuning",
    "autotune",
    "autotune_live",
    "compile",
    "diff",
    "interact",
    "load",
    "load_ipython_extension",
    "roofline",
]


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if "IPython" in sys.modules and name in ("compile", "load"):
        importlib.import_module("phobos_nb.views.display").register_with_ipython()
    return getattr(importlib.import_module(home), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
