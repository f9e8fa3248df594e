"""Type expressions to types."""

from __future__ import annotations

from phobos_nb.dtypes import SCALARS, DType
from phobos_nb.language.check.checker import Checker
from phobos_nb.language.check.expressions import constant_int
from phobos_nb.language.check.scope import Broken
from phobos_nb.language.hints import FOREIGN
from phobos_nb.language.suggest import did_you_mean
from phobos_nb.language.tree import NamedType, ShapedType, TypeExpression
from phobos_nb.language.types import ScalarType, SharedType, TileType


def resolve_dtype(checker: Checker, node: NamedType) -> DType:
    """A scalar type or a dtype parameter by its name. Reports an unknown one (PH117)."""
    binding = checker.scope.find(node.name)
    if isinstance(binding, DType):
        return binding
    if node.name in SCALARS and (binding is None or isinstance(binding, Broken)):
        return SCALARS[node.name]
    known = [*SCALARS, *(n for n in checker.scope.visible() if isinstance(checker.scope.find(n), DType))]
    help = (
        FOREIGN.get(node.name) or did_you_mean(node.name, known) or f"the types are {' '.join(SCALARS)}"
    )
    raise checker.error("PH117", f"`{node.name}` is not a type", node.span, help)


def resolve_shape(checker: Checker, node: ShapedType) -> tuple[int, ...]:
    """The dims of a tile or shared array: constants of at least 1."""
    shape: list[int] = []
    for dim in node.dims:
        extent = constant_int(checker, dim, f"a {node.kind} dim")
        if extent < 1:
            raise checker.error("PH105", f"a {node.kind} dim is at least 1, found {extent}", dim.span)
        shape.append(extent)
    return tuple(shape)


def resolve_local(checker: Checker, node: TypeExpression) -> ScalarType | TileType | SharedType:
    """The type of a local variable. A tensor is only a parameter (PH104)."""
    if isinstance(node, NamedType):
        return ScalarType(resolve_dtype(checker, node))
    if node.kind == "tensor":
        help = "use `let` for a view of a tensor, or a `tile` for a copy"
        raise checker.error("PH104", "a tensor is only a parameter", node.span, help)
    dtype = resolve_dtype(checker, node.element)
    shape = resolve_shape(checker, node)
    return SharedType(dtype, shape) if node.kind == "shared" else TileType(dtype, shape)
