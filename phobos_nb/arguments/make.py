"""Arrays for trying a kernel out: random data of the right dtypes and shapes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from phobos_nb.arguments.findings import findings
from phobos_nb.contract import Parameter, ScalarParameter, TensorParameter
from phobos_nb.dtypes import SCALARS, Kind


def random_array(dtype: str, shape: Sequence[int], rng: Any) -> Any:
    """A C-contiguous NumPy array: N(0, 1) for floats, -4 .. 4 for integers (0 .. 8 unsigned)."""
    import numpy as np

    kind = SCALARS[dtype].kind
    if kind is Kind.FLOAT:
        return rng.standard_normal(tuple(shape), dtype=np.float64).astype(numpy_dtype(dtype))
    if kind is Kind.BOOL:
        return rng.integers(0, 2, tuple(shape)).astype(bool)
    low = 0 if kind is Kind.UNSIGNED else -4
    return rng.integers(low, low + 9, tuple(shape)).astype(numpy_dtype(dtype))


def numpy_dtype(dtype: str) -> Any:
    """The NumPy dtype of a language type; bf16 is ml_dtypes'."""
    import ml_dtypes
    import numpy as np

    return np.dtype(ml_dtypes.bfloat16) if dtype == "bf16" else np.dtype(SCALARS[dtype].numpy)


def random_arguments(
    kernel: str, parameters: Sequence[Parameter], given: Mapping[str, Any], rng: Any
) -> dict[str, Any]:
    """Arguments for every parameter: given ones, else random arrays, 1 for scalars.

    `given` holds arrays and scalars by parameter name and extents by symbol. Extents that no given array
    fixes must be there, else `ArgumentTypeError` names them.
    """
    extents = extents_of(parameters, given)
    values: dict[str, Any] = {}
    with findings(kernel) as found:
        for parameter in parameters:
            if parameter.name in given:
                values[parameter.name] = given[parameter.name]
            elif isinstance(parameter, ScalarParameter):
                values[parameter.name] = 1
            else:
                for dim in parameter.dims:
                    if isinstance(dim, str) and dim not in extents:
                        found.type_error("PH701", f"{parameter.name}: extent {dim} is not given")
                        extents[dim] = 0
                shape = [d if isinstance(d, int) else extents[d] for d in parameter.dims]
                values[parameter.name] = random_array(parameter.dtype, shape, rng)
    return values


def extents_of(parameters: Sequence[Parameter], given: Mapping[str, Any]) -> dict[str, int]:
    """Extents by symbol, from given extents and the shapes of given arrays."""
    names = {p.name for p in parameters}
    extents = {n: v for n, v in given.items() if n not in names}
    for parameter in parameters:
        if isinstance(parameter, TensorParameter) and parameter.name in given:
            shape = getattr(given[parameter.name], "shape", ())
            extents.update(
                {d: n for d, n in zip(parameter.dims, shape, strict=False) if isinstance(d, str)}
            )
    return extents
