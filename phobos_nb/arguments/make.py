"""Arrays for trying a kernel out: random data of the right dtypes and shapes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Integral
from typing import Any

from phobos_nb.arguments.findings import Findings, findings
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
    fixes must be there, and nothing else, or `ArgumentTypeError` names them; an extent below 0, or no
    whole number, is an `ArgumentValueError`.
    """
    extents = extents_of(parameters, given)
    with findings(kernel) as found:
        _check_given(parameters, given, extents, found)
    values: dict[str, Any] = {}
    for parameter in parameters:
        if parameter.name in given:
            values[parameter.name] = given[parameter.name]
        elif isinstance(parameter, ScalarParameter):
            values[parameter.name] = 1
        else:
            shape = [d if isinstance(d, int) else extents[d] for d in parameter.dims]
            values[parameter.name] = random_array(parameter.dtype, shape, rng)
    return values


def _check_given(
    parameters: Sequence[Parameter],
    given: Mapping[str, Any],
    extents: Mapping[str, Any],
    found: Findings,
) -> None:
    """Record names that are no parameter and no extent, extents that are no sizes, and missing ones."""
    names = ", ".join(p.name for p in parameters)
    tensors = [p for p in parameters if isinstance(p, TensorParameter)]
    symbols = dict.fromkeys(d for p in tensors for d in p.dims if isinstance(d, str))
    for name in extents:
        if name not in symbols:
            help = f"its parameters: {names}; its extents: {', '.join(symbols)}"
            found.type_error("PH701", f"has no parameter or extent {name}", help)
    for name, value in extents.items():
        if name in symbols and not (isinstance(value, Integral) and int(value) >= 0):
            found.value_error("PH703", f"{name}: wanted a size of at least 0, got {value!r}")
    for parameter in tensors:
        missing = [d for d in parameter.dims if isinstance(d, str) and d not in extents]
        for dim in missing if parameter.name not in given else ():
            found.type_error("PH701", f"{parameter.name}: extent {dim} is not given")


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
