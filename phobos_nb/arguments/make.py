"""Arrays for trying a kernel out: random data of the right dtypes and shapes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
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
    kernel: str,
    parameters: Sequence[Parameter],
    given: Mapping[str, Any],
    rng: Any,
    before: Callable[[str, Any], str] = lambda _name, _value: "",
) -> dict[str, Any]:
    """Arguments for every parameter: given ones, else random arrays, 1 for scalars.

    `given` holds arrays and scalars by parameter name and extents by symbol. Extents that no given array
    fixes must be there, and nothing else, or `ArgumentTypeError` names them; an extent below 0, or no
    whole number, is an `ArgumentValueError`. before: how a name of the kernel is set before a call, for
    the help where it is given here; empty for others.
    """
    extents = extents_of(parameters, given)
    with findings(kernel) as found:
        _check_names(parameters, extents, found, before)
        _check_extents(parameters, given, extents, found)
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


def _check_names(
    parameters: Sequence[Parameter],
    extents: Mapping[str, Any],
    found: Findings,
    before: Callable[[str, Any], str],
) -> None:
    """Record names that are no parameter and no extent."""
    symbols = _symbols(parameters)
    names = ", ".join(p.name for p in parameters)
    there = f"its parameters: {names}; its extents: {', '.join(symbols)}"
    for name, value in extents.items():
        if name not in symbols:
            help = before(name, value) or there
            found.type_error("PH701", f"has no parameter or extent {name}", help)


def _symbols(parameters: Sequence[Parameter]) -> list[str]:
    tensors = [p for p in parameters if isinstance(p, TensorParameter)]
    return list(dict.fromkeys(d for p in tensors for d in p.dims if isinstance(d, str)))


def _check_extents(
    parameters: Sequence[Parameter],
    given: Mapping[str, Any],
    extents: Mapping[str, Any],
    found: Findings,
) -> None:
    """Record extents that are no sizes, and missing ones."""
    symbols = _symbols(parameters)
    tensors = [p for p in parameters if isinstance(p, TensorParameter)]
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
