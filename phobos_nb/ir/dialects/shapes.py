"""Verifier helpers shared by the dialects: shapes, element types and how to say what is wrong."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import (
    BFloat16Type,
    Float16Type,
    Float32Type,
    Float64Type,
    MemRefType,
    TensorType,
    VectorType,
)
from xdsl.ir import Attribute
from xdsl.utils.exceptions import VerifyException

Shaped = TensorType[Attribute] | VectorType[Attribute] | MemRefType[Attribute]


def shape_of(type_: Attribute) -> tuple[int, ...] | None:
    """The static shape of a tensor, vector or memref; None for a scalar."""
    if isinstance(type_, TensorType | VectorType | MemRefType):
        return cast(Shaped, type_).get_shape()
    return None


def element_of(type_: Attribute) -> Attribute:
    """The element type of a tensor, vector or memref, or the scalar type itself."""
    if isinstance(type_, TensorType | VectorType | MemRefType):
        return cast(Shaped, type_).element_type
    return type_


def with_element(type_: Attribute, element: Attribute) -> Attribute:
    """The type `type_` with another element type; the layout of a tensor (its encoding) is kept."""
    if isinstance(type_, TensorType):
        tensor = cast("TensorType[Attribute]", type_)
        return TensorType(element, tensor.get_shape(), tensor.encoding)
    if isinstance(type_, VectorType):
        return VectorType(element, cast("VectorType[Attribute]", type_).get_shape())
    return element


def is_float(type_: Attribute) -> bool:
    """Whether a scalar type is f16, bf16, f32 or f64."""
    return isinstance(type_, Float16Type | BFloat16Type | Float32Type | Float64Type)


def show(shape: Sequence[int] | None) -> str:
    """A shape as messages show it, such as `[128, 8]`; a scalar is `a scalar`."""
    return "a scalar" if shape is None else f"[{', '.join(map(str, shape))}]"


def require(condition: bool, message: str) -> None:
    """Raise `VerifyException(message)` unless `condition` holds."""
    if not condition:
        raise VerifyException(message)


def require_same_shape(what: str, wanted: Attribute, found: Attribute) -> None:
    """Both types have one shape (encodings may differ)."""
    require(
        shape_of(wanted) == shape_of(found),
        f"{what}: wanted shape {show(shape_of(wanted))}, found {show(shape_of(found))}",
    )


def require_same_element(what: str, wanted: Attribute, found: Attribute) -> None:
    """Both types have one element type."""
    require(
        element_of(wanted) == element_of(found),
        f"{what}: wanted elements of type {element_of(wanted)}, found {element_of(found)}",
    )


def stretches_to(source: Sequence[int], target: Sequence[int]) -> bool:
    """Whether NumPy's rule stretches `source` to exactly `target`."""
    if len(source) > len(target):
        return False
    tail = target[len(target) - len(source) :]
    return all(s in (1, t) for s, t in zip(source, tail, strict=True))
