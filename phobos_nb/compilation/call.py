"""One call solved: its arguments checked, extents and constants chosen, the grid known."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from phobos_nb.arguments.array import ArrayDescription, describe_numpy, is_masked
from phobos_nb.arguments.findings import Findings, findings
from phobos_nb.arguments.grid import Grid, check_covering, choose_grid
from phobos_nb.arguments.match import check_promises, check_thin, match_arguments
from phobos_nb.arguments.overlap import check_overlap
from phobos_nb.arguments.scalars import Scalar
from phobos_nb.contract import ScalarParameter
from phobos_nb.language.aliasing import in_place_pairs
from phobos_nb.language.typed import TypedKernel
from phobos_nb.lower.choices import SPLIT
from phobos_nb.lower.gemm_plan import OVERRIDES
from phobos_nb.target import Target

if TYPE_CHECKING:
    from phobos_nb.compilation.kernel import Kernel

Describe = Callable[[Any], ArrayDescription | None]


@dataclass(frozen=True)
class SolvedCall:
    """A call that passed every check that needs no GPU.

    typed: the kernel with chosen constants. choices: values of the compiler's own choices, by name.
    """

    typed: TypedKernel
    arrays: Mapping[str, ArrayDescription]
    extents: Mapping[str, int]
    scalars: Mapping[str, Scalar]
    grid: Grid
    in_place: frozenset[frozenset[str]]
    choices: Mapping[str, int] = field(default_factory=dict[str, int])


def solve(
    kernel: Kernel,
    values: Mapping[str, Any],
    describe: Describe,
    grid: Any,
    target: Target,
    device: str = "",
) -> SolvedCall:
    """Check a call in full and choose what the caller left open.

    device: whose tuning records count, none if empty. Raises `ArgumentTypeError` or
    `ArgumentValueError` naming every parameter at fault.
    """
    found = Findings(kernel.name)
    call = match_arguments(kernel.parameters, values, describe, found)
    found.raise_errors()
    chosen = kernel.constants_for(call.extents, target, device)
    if grid is not None:  # the launches of a split kernel infer their grids
        chosen = {name: value for name, value in chosen.items() if name != SPLIT}
    typed = kernel.typed(chosen)
    pairs = in_place_pairs(typed)
    with findings(kernel.name) as found:
        check_promises(typed.promises, call.extents, found)
        check_thin(typed.grid.thin(chosen), call.extents, found)
        check_overlap(typed.tensor_parameters, call.arrays, pairs, found)
        shape = choose_grid(typed.grid, call.extents, grid, found)
        check_covering(typed.grid, typed.promises, call.extents, shape, found)
    return SolvedCall(typed, call.arrays, call.extents, call.scalars, shape, pairs, _choices(chosen))


def _choices(chosen: Mapping[str, int]) -> dict[str, int]:
    return {name: value for name, value in chosen.items() if name in OVERRIDES}


def on_device(kernel: Kernel, values: Mapping[str, Any]) -> bool:
    """Whether a call's arrays are on a GPU; `ArgumentTypeError` where some are and some are not."""
    from phobos_nb.cuda.arrays import on_gpu

    tensors = [p.name for p in kernel.parameters if not isinstance(p, ScalarParameter)]
    places = {name: on_gpu(values[name]) for name in tensors}
    if len(set(places.values())) > 1:
        device = ", ".join(n for n, there in places.items() if there)
        host = ", ".join(f"{n} ({type(values[n]).__name__})" for n, there in places.items() if not there)
        with findings(kernel.name) as found:
            found.type_error("PH712", f"{device} on the GPU, but {host} not", "move all to one place")
    return any(places.values())


def host_values(values: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments with torch and other DLPack arrays in CPU memory as NumPy views."""
    return {name: _host_view(value) for name, value in values.items()}


def _host_view(value: Any) -> Any:
    import numpy as np

    known: Any = (np.ndarray, np.generic)
    if isinstance(value, known) or not hasattr(value, "__dlpack_device__"):
        return value
    try:
        return np.from_dlpack(value)
    except (BufferError, RuntimeError, TypeError, ValueError):  # a dtype or a place NumPy has not
        return value


def dtype_of(value: Any) -> str | None:
    """The element type of an array, CPU or GPU, by its name in the language; None for what is none."""
    from phobos_nb.cuda.arrays import adopt, library_of, on_gpu

    if on_gpu(value):
        array = adopt(value)
        return library_of(array).describe(array).dtype
    described = describe_host(_host_view(value))
    return described.dtype if described else None


def describe_host(value: Any) -> ArrayDescription | None:
    """Describe a NumPy array; None for anything else, and for one with a mask, which no kernel knows."""
    import numpy as np

    known = not is_masked(value) and isinstance(value, np.ndarray)
    return describe_numpy(value) if known else None
