"""Arguments to parameters, and the checks of dtype, rank, extents and promises."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from phobos_nb.arguments.array import ArrayDescription, is_masked
from phobos_nb.arguments.findings import Findings
from phobos_nb.arguments.options import what_there_is
from phobos_nb.arguments.scalars import Scalar, check_range, convert_scalar
from phobos_nb.contract import MOST, Parameter, ScalarParameter, TensorParameter
from phobos_nb.dtypes import ALL

_COPY = "copy it to fresh memory: `np.array(x)` or `cp.array(x)`"


@dataclass(frozen=True)
class CallArguments:
    """A checked call: arrays described, extents solved, scalars converted, all by name."""

    arrays: Mapping[str, ArrayDescription]
    extents: Mapping[str, int]
    scalars: Mapping[str, Scalar]


def name_arguments(
    kernel: str,
    parameters: Sequence[Parameter],
    positional: Sequence[Any],
    named: Mapping[str, Any],
    constants: Callable[[], Collection[str]] = frozenset,
    taker: str = "",
) -> dict[str, Any]:
    """The arguments of a call by parameter name, in source order.

    constants: names that are set before a call, asked for only where a name is unknown. taker: what
    takes the arguments, a key of `options.TAKES`, for the help.
    Raises `ArgumentTypeError` for missing, surplus, repeated and unknown arguments.
    """
    found = Findings(kernel)
    names = [p.name for p in parameters]
    if len(positional) > len(names):
        found.type_error("PH701", f"takes {len(names)} arguments, got {len(positional)} positional")
    values = dict(zip(names, positional, strict=False))
    for name, value in named.items():
        if name not in names:
            before = (
                f"{name} is a constant: `{kernel}.specialize({name}={value!r})` is the kernel with it"
            )
            help = before if name in constants() else what_there_is(name, names, taker)
            found.type_error("PH701", f"has no parameter {name}", help)
        elif name in values:
            found.type_error("PH701", f"{name} is given twice")
        else:
            values[name] = value
    missing = [n for n in names if n not in values]
    if missing:
        found.type_error("PH701", f"missing {', '.join(missing)}", f"its parameters: {', '.join(names)}")
    found.raise_errors()
    return {n: values[n] for n in names}


def match_arguments(
    parameters: Sequence[Parameter],
    values: Mapping[str, Any],
    describe: Callable[[Any], ArrayDescription | None],
    found: Findings,
) -> CallArguments:
    """Check every argument against its parameter, recording all that is wrong.

    `describe` tells about an array, or returns None for what is no array it can use.
    """
    arrays: dict[str, ArrayDescription] = {}
    scalars: dict[str, Scalar] = {}
    for parameter in parameters:
        value = values[parameter.name]
        if isinstance(parameter, ScalarParameter):
            scalars[parameter.name] = convert_scalar(parameter, value, found)
            check_range(parameter, scalars[parameter.name], found)
            continue
        array = describe(value)
        if array is None:
            message = f"{parameter.name}: wanted {signature(parameter)}, got {type(value).__name__}"
            found.type_error("PH702", message, _array_help(parameter, value))
        elif check_array(parameter, array, found):
            arrays[parameter.name] = array
    extents = solve_extents([p for p in parameters if isinstance(p, TensorParameter)], arrays, found)
    return CallArguments(arrays, extents, scalars)


def _array_help(parameter: TensorParameter, value: object) -> str:
    """How numbers that are no array become one, and what to do about a mask."""
    if is_masked(value):
        return f"kernels know no mask: fill what is masked, `{parameter.name}.filled(0)`"
    if not isinstance(value, list | tuple | int | float):
        return "pass an array on the GPU (CuPy, PyTorch) or a NumPy array"
    dtype = "" if parameter.dtype == "bf16" else f', dtype="{ALL[parameter.dtype].numpy}"'
    return f"make it an array: `np.asarray({parameter.name}{dtype})`"


def signature(parameter: TensorParameter) -> str:
    """The parameter's type as the source writes it."""
    return f"tensor<{parameter.dtype}>[{', '.join(map(str, parameter.dims))}]"


def check_array(parameter: TensorParameter, array: ArrayDescription, found: Findings) -> bool:
    """Check dtype (exactly), rank, element alignment and writability of one array."""
    name, wanted = parameter.name, signature(parameter)
    if array.dtype != parameter.dtype:
        help = f"convert it first: a call never casts, so {name} must hold {parameter.dtype}"
        found.type_error("PH702", f"{name}: wanted {wanted}, got dtype {array.dtype}", help)
        return False
    if len(array.shape) != len(parameter.dims):
        got = f"an array of rank {len(array.shape)}, shape {array.shape}"
        shape = "-1" if len(parameter.dims) == 1 else ", ".join(map(str, parameter.dims))
        help = f"give it {len(parameter.dims)} axes, for example by `{name}.reshape({shape})`"
        found.type_error("PH703", f"{name}: wanted {wanted}, got {got}", help)
        return False
    odd = [s for s in array.strides if s % array.itemsize]
    if array.address % array.itemsize or odd:
        found.value_error("PH703", f"{name}: elements do not lie at multiples of their size", _COPY)
        return False
    if parameter.writes and not array.writable:
        found.value_error(
            "PH711", f"{name}: the kernel writes it, but the array is read-only", "give it a copy"
        )
        return False
    return True


def solve_extents(
    tensors: Sequence[TensorParameter], arrays: Mapping[str, ArrayDescription], found: Findings
) -> dict[str, int]:
    """The run-time extent of every symbol; records where arrays or constants disagree."""
    extents: dict[str, int] = {}
    origin: dict[str, str] = {}
    for tensor in tensors:
        if tensor.name not in arrays:
            continue
        shape = arrays[tensor.name].shape
        for axis, (dim, size) in enumerate(zip(tensor.dims, shape, strict=True)):
            place = f"{tensor.name} axis {axis}"
            if isinstance(dim, int):
                if size != dim:
                    help = (
                        f"the kernel was compiled for {dim}: pass such an array, or compile for {size}"
                    )
                    found.value_error("PH704", f"{place}: wanted extent {dim}, got {size}", help)
            elif extents.setdefault(dim, size) != size:
                known = f"{dim} is {extents[dim]} by {origin[dim]}"
                help = f"every axis called {dim} has one extent: slice or pad one of the arrays"
                found.value_error("PH704", f"{place}: {known}, but {size} here", help)
            origin.setdefault(str(dim), place)
    return extents


def check_thin(thin: Mapping[str, int], extents: Mapping[str, int], found: Findings) -> None:
    """Record every extent above the bound that MOST_X or MOST_Y sets."""
    for symbol, most in thin.items():
        if extents.get(symbol, 0) > most:
            message = f"{symbol} = {extents[symbol]}, the kernel is compiled for at most {most}"
            found.value_error(
                "PH714", message, f"leave out {' and '.join(MOST)}, or give a larger value"
            )


def check_promises(promises: Mapping[str, int], extents: Mapping[str, int], found: Findings) -> None:
    """Record every extent that breaks an `@aligned` promise."""
    for symbol, multiple in promises.items():
        extent = extents.get(symbol, 0)
        if extent % multiple:
            message = f"{symbol} = {extent} is not a multiple of {multiple}, which @aligned promises"
            found.value_error("PH705", message, f"pad {symbol} or use a kernel without the promise")
