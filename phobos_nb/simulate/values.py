"""Values of the simulated program and how they are split and chosen by lanes.

A scalar that is the same in every lane is a Python int or bool or a NumPy float; one that differs
is an array [lanes]. A vector is an array [n0, ..., lanes], or [n0, ..., 1] when every lane holds the
same. A memref is a `Ref`. Lanes come last so that NumPy's inner loops run over them.
"""

from __future__ import annotations

from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

from phobos_nb.simulate.memory import Memory
from phobos_nb.simulate.shared_arrays import SharedArray, split_offset

Value = Any
"""int | bool | float | NDArray | Ref: only the decoder knows which, from the MLIR type."""

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Array = NDArray[Any]
DTypeLike = np.dtype[Any]


def is_array(value: Value) -> TypeGuard[Array]:
    """Whether a value differs by lane or is a vector."""
    return isinstance(value, np.ndarray)


class Ref:
    """A memref value: where element 0 lies in a memory, in elements of `dtype`.

    `offset` counts from the memory's own start (a tensor's index 0, a CTA's shared byte 0) and is an
    int or [lanes]; `strides` are in elements, one per axis. `array` is that of shared memory which
    accesses must not leave, where it is known.
    """

    __slots__ = (
        "_absolute",
        "_bits",
        "_corner",
        "_corner_spans",
        "_range",
        "array",
        "dtype",
        "memory",
        "offset",
        "strides",
    )

    def __init__(
        self,
        memory: Memory,
        offset: Value,
        strides: tuple[Value, ...],
        dtype: DTypeLike,
        array: SharedArray | None = None,
    ) -> None:
        self.memory = memory
        self.offset = offset
        self.strides = strides
        self.dtype = dtype
        self.array = array
        self._corner: tuple[Value, ...] | None = None
        self._corner_spans: tuple[tuple[int, int], ...] | None = None
        self._range: tuple[int, int] | None = None
        self._absolute: Value = None
        self._bits: int | None = None

    @property
    def name(self) -> str:
        """The array's or the tensor's name; "" of a shared array whose name is not known."""
        if self.memory.space == "shared":
            return "" if self.array is None else self.array.name
        return self.memory.name

    @property
    def described(self) -> str:
        """What accesses through it must not leave, in words that follow the memory's name."""
        if self.array is not None:
            return self.array.described
        return "it"

    @property
    def bounds(self) -> tuple[int, int]:
        """First and last element that may be touched, counted from the memory's own start."""
        return self.memory.bounds(self.dtype) if self.array is None else self.array.bounds

    def corner_at(self, axis: int) -> Value:
        """The index in its array, on one axis, of element 0: see Note [Views at a thread's place]."""
        if self._corner is None:
            self._corner = self._find_corner()
        return self._corner[axis] if self._corner else 0

    def corner_span(self, axis: int) -> tuple[int, int]:
        """Smallest and largest `corner_at` over the lanes."""
        if self._corner_spans is None:
            begins = self.array is None or self.range == (self.array.bounds[0],) * 2
            self._corner_spans = () if begins else tuple(map(span, self._find_corner()))
        return self._corner_spans[axis] if self._corner_spans else (0, 0)

    def _find_corner(self) -> tuple[Value, ...]:
        if self.array is None:
            return ()
        return tuple(split_offset(self.offset - self.array.bounds[0], self.array.strides))

    @property
    def range(self) -> tuple[int, int]:
        """Smallest and largest offset over the lanes."""
        if self._range is None:
            self._range = span(self.offset)
        return self._range

    def absolute(self, cta: Ints) -> Value:
        """Positions in the memory's typed view, for lanes whose CTAs are `cta`."""
        if self._absolute is None:
            origin = self.memory.origin(self.dtype, cta)
            self._absolute = self.offset if is_zero(origin) else self.offset + origin
        return self._absolute

    def low_bits(self, cta: Ints) -> int:
        """All positions or-ed together: its low bits are zero where every lane is aligned."""
        if self._bits is None:
            at = self.absolute(cta)
            self._bits = int(np.bitwise_or.reduce(at)) if is_array(at) else int(at)
        return self._bits

    def moved(self, step: Value, strides: tuple[Value, ...]) -> Ref:
        """The same memory `step` elements further on."""
        moved = Ref(self.memory, self.offset + step, strides, self.dtype, self.array)
        if self._range is not None and isinstance(step, int):
            moved._range = (self._range[0] + step, self._range[1] + step)
        return moved


def is_zero(value: Value) -> bool:
    """Whether a value is the number 0 in every lane."""
    return not is_array(value) and value == 0


def span(value: Value) -> tuple[int, int]:
    """Smallest and largest of an integer value over the lanes."""
    return (int(value.min()), int(value.max())) if is_array(value) else (int(value), int(value))


def take(value: Value, lanes: Ints, count: int) -> Value:
    """The part of a value that belongs to some of a strand's `count` lanes."""
    if isinstance(value, Ref):
        strides = tuple(take(s, lanes, count) for s in value.strides)
        return Ref(value.memory, take(value.offset, lanes, count), strides, value.dtype, value.array)
    if is_array(value) and value.shape[-1] == count:
        return value[..., lanes]
    return value


def choose(condition: Bools, yes: Value, no: Value, dtype: DTypeLike | None) -> Value:
    """`yes` in the lanes where `condition` holds, `no` elsewhere; `dtype` of scalars and vectors."""
    if yes is no or no is None:
        return yes
    if yes is None:
        return no
    if isinstance(yes, Ref):
        if yes.memory is not no.memory:
            raise NotImplementedError("a memref that is different tensors in different threads")
        pairs = zip(yes.strides, no.strides, strict=True)
        strides = tuple(choose(condition, a, b, np.dtype(np.int64)) for a, b in pairs)
        offset = choose(condition, yes.offset, no.offset, np.dtype(np.int64))
        return Ref(yes.memory, offset, strides, yes.dtype, yes.array if yes.array == no.array else None)
    if not is_array(yes) and not is_array(no) and same(yes, no):
        return yes
    return np.where(condition, np.asarray(yes, dtype), np.asarray(no, dtype))


def same(a: Value, b: Value) -> bool:
    """Whether two uniform scalars are one value; NaN equals NaN, and 0.0 is not -0.0."""
    if a != b:
        return bool(a != a and b != b)
    return bool(a != 0 or np.signbit(a) == np.signbit(b))
