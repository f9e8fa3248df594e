"""The arguments of a call to look at: the caller's, or arrays made for given or assumed extents."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np

from phobos_nb.arguments.array import ArrayDescription
from phobos_nb.arguments.make import random_arguments
from phobos_nb.arguments.match import name_arguments
from phobos_nb.compilation.configuration import resolve
from phobos_nb.compilation.kernel import Kernel
from phobos_nb.contract import TensorParameter
from phobos_nb.diagnostics import PhobosError
from phobos_nb.dtypes import SCALARS
from phobos_nb.tune.snapshot import PITCH, Snapshot, lay_out, take

LINE = 1 << 20
"""Assumed for a kernel with one extent, an elementwise one."""

SIDE, OUTER = 1024, 4
"""Assumed for an extent that is one of the last two of a tensor, and for others, such as a batch."""

MOST_BYTES = 1 << 26
"""Of all arrays whose extents are assumed."""


def call_values(
    kernel: Kernel, arguments: Sequence[Any], named: Mapping[str, Any]
) -> tuple[Kernel, dict[str, Any], bool]:
    """The kernel with its dtypes, every argument by name, and whether arrays were made.

    Extents by symbol (`M=4096`) or no arguments at all stand for random arrays, on the GPU where there
    is one. Raises what the call itself would raise.
    """
    tensors = [p for p in kernel.parameters if isinstance(p, TensorParameter)]
    given = dict(zip((p.name for p in kernel.parameters), arguments, strict=False)) | dict(named)
    if arguments or any(t.name in given for t in tensors):
        kernel = kernel.for_call(arguments, dict(named))
        return kernel, name_arguments(kernel.name, kernel.parameters, arguments, dict(named)), False
    kernel = kernel.for_some(given)
    symbols = dict.fromkeys(d for t in tensors for d in t.dims if isinstance(d, str))
    if strange := {n: v for n, v in given.items() if n not in symbols}:
        known = {p.name: 0 for p in kernel.parameters}
        name_arguments(kernel.name, kernel.parameters, (), {**known, **strange})
    extents = _assumed(kernel, tensors, {n: v for n, v in given.items() if n in symbols})
    random = np.random.default_rng(0)
    made = random_arguments(kernel.name, kernel.parameters, {**given, **extents}, random)
    return kernel, _on_gpu(kernel, {p.name: made[p.name] for p in kernel.parameters}), True


def laid_out(snapshots: Mapping[str, Snapshot]) -> dict[str, Any]:
    """NumPy arrays like the snapshots', in memory that begins at a multiple of `PITCH`.

    The simulator takes the memory that an array is part of to begin there, as on a GPU.
    """
    return {name: _rooted(array) for name, array in lay_out(snapshots, np).items()}


def rooted_copies(
    described: Mapping[str, ArrayDescription], values: Mapping[str, Any]
) -> dict[str, Snapshot]:
    """Snapshots of NumPy arrays whose memory is taken to begin at a multiple of `PITCH` too."""
    found = take(described, values, np.asarray)
    return {n: replace(s, offset=_offset(values[n]) % PITCH) for n, s in found.items()}


def _offset(array: Any) -> int:
    """Bytes from the beginning of the memory that an array is part of to its first element."""
    return _address(array) - _address(_root(array))


def _root(array: Any) -> Any:
    while isinstance(array.base, np.ndarray):
        array = cast(Any, array.base)
    return array


def _rooted(array: Any) -> Any:
    """The same memory as part of an array that begins at the first multiple of `PITCH` in it."""
    root = _root(array)
    start = -_address(root) % PITCH
    memory = np.frombuffer(root.data, np.uint8, offset=start)
    return np.ndarray(
        array.shape, array.dtype, memory, _address(array) - _address(memory), array.strides
    )


def _address(array: Any) -> int:
    return int(array.__array_interface__["data"][0])


def _assumed(
    kernel: Kernel, tensors: Sequence[TensorParameter], given: Mapping[str, int]
) -> dict[str, int]:
    """Extents of a call: given ones, else sides of `SIDE` and outer axes of `OUTER`; promises are kept.

    Sides are halved, the longest first, while the arrays are larger than `MOST_BYTES`.
    """
    promised = kernel.typed(kernel.options.constants).promises
    sides = {d for t in tensors for d in t.dims[-2:]}
    symbols = list(dict.fromkeys(d for t in tensors for d in t.dims if isinstance(d, str)))
    outer = OUTER if sides & {*symbols} else SIDE
    usual = {s: LINE if len(symbols) == 1 else SIDE if s in sides else outer for s in symbols}
    free = {s: _multiple(usual[s], promised.get(s, 1)) for s in symbols if s not in given}
    while free and _bytes(tensors, {**given, **free}) > MOST_BYTES:
        longest = max(free, key=lambda s: free[s])
        half = _multiple(free[longest] // 2, promised.get(longest, 1))
        if half == free[longest]:
            break
        free[longest] = half
    return {s: given[s] if s in given else free[s] for s in symbols}


def _multiple(wanted: int, of: int) -> int:
    """The multiple of a promise that is nearest below, at least one of it."""
    return max(1, wanted // of) * of


def _bytes(tensors: Sequence[TensorParameter], extents: Mapping[str, int]) -> int:
    shapes = [([d if isinstance(d, int) else extents[d] for d in t.dims], t.dtype) for t in tensors]
    return sum(math.prod(shape) * SCALARS[dtype].itemsize for shape, dtype in shapes)


def _on_gpu(kernel: Kernel, values: dict[str, Any]) -> dict[str, Any]:
    """The arrays on the current GPU, where there is one that the kernel is compiled for, and CuPy."""
    from phobos_nb.cuda.driver import cupy, native_chip

    if native_chip() != resolve(kernel.options).target.name:
        return values
    try:
        module = cupy()
    except PhobosError:
        return values
    arrays = {n: module.asarray(v) for n, v in values.items() if getattr(v, "shape", ())}
    return {**values, **arrays}
