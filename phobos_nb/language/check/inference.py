"""Binding a function's parameters at a call, and inferring its compile-time parameters from them."""

from __future__ import annotations

from phobos_nb.dtypes import BOOL, INDEX, SCALARS, DType
from phobos_nb.language.check.checker import Checker
from phobos_nb.language.check.conversions import assigned, constant, dtype_of, filled, shape_of
from phobos_nb.language.check.expressions import check_scalar, constant_int
from phobos_nb.language.check.resolve import resolve_dtype, resolve_local
from phobos_nb.language.check.scope import Alias, Binding
from phobos_nb.language.registry import Argument
from phobos_nb.language.stable import is_stable
from phobos_nb.language.tree import (
    CallExpression,
    Expression,
    FunctionNode,
    Generic,
    Name,
    NamedType,
    ParameterNode,
    ShapedType,
)
from phobos_nb.language.typed import (
    Constant,
    Expr,
    Extent,
    SharedArray,
    Tensor,
    VariableRead,
)
from phobos_nb.language.types import ScalarType, TileType
from phobos_nb.source import Span


def bind_arguments(
    checker: Checker, function: FunctionNode, arguments: tuple[Argument, ...], node: CallExpression
) -> None:
    """Bind generics and parameters in the current scope, which is the function's own."""
    generics = {g.name: g for g in function.generics}
    spans = [a.span for a in node.arguments]
    triples = tuple(zip(function.parameters, arguments, spans, strict=True))
    for parameter, argument, span in triples:
        _infer(checker, parameter, argument, span, generics)
    for generic in function.generics:
        if generic.name not in checker.scope.names:
            checker.scope.names[generic.name] = _default(checker, function, generic, node)
    for parameter, argument, span in triples:
        _bind(checker, parameter, argument, span)


def _infer(
    checker: Checker,
    parameter: ParameterNode,
    argument: Argument,
    span: Span,
    generics: dict[str, Generic],
) -> None:
    kind = parameter.type
    element = kind if isinstance(kind, NamedType) else kind.element
    dtype = dtype_of(argument) if isinstance(argument, Expr) else argument.type.dtype
    if element.name in generics:
        _agree(checker, element.name, dtype, span)
    if isinstance(kind, ShapedType):
        dims = _dims(argument)
        if len(dims) == len(kind.dims):
            for dim, extent in zip(kind.dims, dims, strict=True):
                _infer_dim(checker, dim, extent, span)


def _dims(argument: Argument) -> tuple[int | str, ...]:
    if isinstance(argument, Tensor):
        return argument.type.dims
    return argument.type.shape if isinstance(argument, SharedArray) else shape_of(argument)


def _infer_dim(checker: Checker, dim: Expression, extent: int | str, span: Span) -> None:
    if not isinstance(dim, Name):
        return
    if isinstance(extent, int):
        expr: Expr = constant(extent, INDEX, span)
    else:
        expr = Extent(type=ScalarType(INDEX), span=span, symbol=extent)
    _agree(checker, dim.text, Alias(expr, "an extent"), span)


def _agree(checker: Checker, name: str, binding: DType | Alias, span: Span) -> None:
    """Bind an inferred name. Reports two arguments that give it different values (PH104)."""
    present = checker.scope.names.get(name)
    if present is None:
        checker.scope.names[name] = binding
    elif _shown(present) != _shown(binding):
        message = f"`{name}` is {_shown(present)} by an earlier argument, but {_shown(binding)} here"
        raise checker.error("PH104", message, span)


def _shown(binding: Binding) -> str:
    if isinstance(binding, Alias):
        expr = binding.expr
        if isinstance(expr, Constant):
            return str(expr.value)
        return expr.symbol if isinstance(expr, Extent) else str(expr.type)
    return str(binding)


def _default(
    checker: Checker, function: FunctionNode, generic: Generic, node: CallExpression
) -> Binding:
    default = generic.default
    if default is None:
        message = f"`{generic.name}` of `{function.name}` does not follow from the arguments"
        raise checker.error("PH111", message, node.span, "give it a default, or use it in a type")
    if generic.kind == "dtype":
        if isinstance(default, Name) and default.text in SCALARS:
            return SCALARS[default.text]
        raise checker.error("PH117", f"the default of `{generic.name}` is a type", default.span)
    if generic.kind == "int":
        value = constant_int(checker, default, f"the default of `{generic.name}`")
        return Alias(constant(value, INDEX, default.span), "a constant")
    flag = check_scalar(checker, default, f"the default of `{generic.name}`")
    if dtype_of(flag) != BOOL:
        raise checker.error("PH104", f"the default of `{generic.name}` is a bool", default.span)
    return Alias(flag, "a constant")


def _bind(checker: Checker, parameter: ParameterNode, argument: Argument, span: Span) -> None:
    kind = parameter.type
    if isinstance(kind, ShapedType) and kind.kind in ("tensor", "shared"):
        memory = _memory(checker, parameter, kind, argument, span)
        checker.declare(parameter.name, memory, parameter.span)
        return
    resolved = resolve_local(checker, kind)
    if not isinstance(argument, Expr) or not isinstance(resolved, ScalarType | TileType):
        message = f"the parameter `{parameter.name}` is a value, found {argument.type}"
        raise checker.error("PH104", message, span)
    what = f"the parameter `{parameter.name}`"
    value = assigned(checker, argument, resolved.dtype, what)
    if isinstance(resolved, TileType):
        value = filled(checker, value, resolved.shape, what)
    elif shape_of(value):
        raise checker.error("PH206", f"{what} is a scalar, found {value.type}", span)
    checker.declare(parameter.name, _by_value(checker, parameter, value), parameter.span)


def _by_value(checker: Checker, parameter: ParameterNode, value: Expr) -> Binding:
    """The value as it is now; variables of the caller cannot change while the function runs."""
    if is_stable(value) or isinstance(value, VariableRead):
        return Alias(value, "a parameter")
    return checker.variable(parameter.name, value, mutable=False, span=value.span)


def _memory(
    checker: Checker, parameter: ParameterNode, kind: ShapedType, argument: Argument, span: Span
) -> Tensor | SharedArray:
    """A tensor or shared array is passed as it is; its type must agree with the parameter's."""
    wanted = Tensor if kind.kind == "tensor" else SharedArray
    what = f"the parameter `{parameter.name}`"
    if not isinstance(argument, wanted):
        message = f"{what} is a {kind.kind}, found {argument.type}"
        raise checker.error("PH104", message, span)
    dtype = resolve_dtype(checker, kind.element)
    if argument.type.dtype != dtype:
        message = f"{what} has elements of {dtype}, found {argument.type}"
        raise checker.error("PH104", message, span)
    dims = _dims(argument)
    if len(dims) != len(kind.dims):
        message = f"{what} has {len(kind.dims)} axes, found {argument.type}"
        raise checker.error("PH104", message, span)
    for dim, extent in zip(kind.dims, dims, strict=True):
        if not isinstance(dim, Name) and constant_int(checker, dim, "a dim") != extent:
            message = f"{what} does not have the dims of {argument.type}"
            raise checker.error("PH104", message, span)
    return argument
