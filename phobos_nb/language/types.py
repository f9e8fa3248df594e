"""The types of the language and how widely a value is shared by the threads of a CTA."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from phobos_nb.contract import Dim
from phobos_nb.dtypes import DType


class Uniformity(IntEnum):
    """Who is known to hold the same value; the join of two is their maximum."""

    CTA = 0
    WARP = 1
    LANE = 2


@dataclass(frozen=True)
class ScalarType:
    """A per-thread value; `dtype` may be `INDEX` or `BOOL`."""

    dtype: DType

    def __str__(self) -> str:
        return str(self.dtype)


@dataclass(frozen=True)
class TileType:
    """A tile of the CTA: element type and constant shape, any rank from 1."""

    dtype: DType
    shape: tuple[int, ...]

    def __str__(self) -> str:
        return f"tile<{self.dtype}>[{', '.join(map(str, self.shape))}]"


@dataclass(frozen=True)
class TensorType:
    """A global tensor parameter; a dim is a constant or the name of a run-time symbol."""

    dtype: DType
    dims: tuple[Dim, ...]

    def __str__(self) -> str:
        return f"tensor<{self.dtype}>[{', '.join(map(str, self.dims))}]"


@dataclass(frozen=True)
class SharedType:
    """Shared memory that the author manages."""

    dtype: DType
    shape: tuple[int, ...]

    def __str__(self) -> str:
        return f"shared<{self.dtype}>[{', '.join(map(str, self.shape))}]"


@dataclass(frozen=True)
class VoidType:
    """The type of a call that yields nothing, such as `barrier()`."""

    def __str__(self) -> str:
        return "nothing"


ValueType = ScalarType | TileType | VoidType
Type = ScalarType | TileType | TensorType | SharedType | VoidType
