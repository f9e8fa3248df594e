"""Bit patterns of floats, `bits` and `from_bits`: which integer carries which float."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from phobos_nb.builtins.families import operands
from phobos_nb.builtins.families.elementwise import call_of
from phobos_nb.dtypes import F32, F64, I32, I64, DType
from phobos_nb.language.meaning.conversion import numpy_dtype
from phobos_nb.language.registry import CallSite
from phobos_nb.language.typed import Call

INTEGER_OF = {F32: I32, F64: I64}
FLOAT_OF = {I32: F32, I64: F64}


def check(results: Mapping[DType, DType]) -> Callable[[CallSite], Call]:
    """A check for one value whose dtype is a key of `results`."""

    def checked(site: CallSite) -> Call:
        operands.expect_count(site, 1)
        value = operands.value(site, 0)
        result = results.get(operands.dtype_of(value))
        if result is None:
            wanted = " or ".join(str(d) for d in results)
            message = f"{site.name} wants {wanted}, found {value.type}"
            raise site.diagnostics.error("PH104", message, value.span)
        return call_of(site, [value], result)

    return checked


def reference(machine: Any, call: Call, value: NDArray[Any]) -> NDArray[Any]:  # noqa: ARG001
    """The same bits under the result's dtype."""
    return (
        np.ascontiguousarray(value).view(numpy_dtype(operands.dtype_of(call))).reshape(np.shape(value))
    )
