"""The parameters of a kernel: tensors, scalars and the extents that tensor dims name."""

from __future__ import annotations

from phobos_nb.contract import Dim
from phobos_nb.diagnostics import Stop
from phobos_nb.dtypes import BOOL, INDEX
from phobos_nb.language.check.checker import Checker
from phobos_nb.language.check.configuration import Configuration
from phobos_nb.language.check.conversions import constant
from phobos_nb.language.check.expressions import constant_int
from phobos_nb.language.check.resolve import resolve_dtype
from phobos_nb.language.check.scope import Alias, Broken
from phobos_nb.language.tree import Expression, KernelNode, Name, NamedType, ParameterNode, ShapedType
from phobos_nb.language.typed import Extent, ScalarArgument, Tensor
from phobos_nb.language.types import ScalarType, TensorType
from phobos_nb.source import Span


def bind_constants(checker: Checker, configuration: Configuration, span: Span) -> None:
    """Bind the compile-time names in the current scope."""
    for name, value in configuration.constants.items():
        flag = name in configuration.flags
        expr = constant(bool(value), BOOL, span) if flag else constant(value, INDEX, span)
        checker.scope.names[name] = Alias(expr, "a constant")
    checker.scope.names.update(configuration.dtypes)


def bind_parameters(checker: Checker, kernel: KernelNode) -> tuple[Tensor | ScalarArgument, ...]:
    """Bind the parameters and the symbols of tensor dims in the current scope."""
    found: list[Tensor | ScalarArgument] = []
    for parameter in kernel.parameters:
        try:
            found.append(_bind_parameter(checker, parameter))
        except Stop:
            checker.scope.names[parameter.name] = Broken()
    return tuple(found)


def _bind_parameter(checker: Checker, node: ParameterNode) -> Tensor | ScalarArgument:
    if isinstance(node.type, ShapedType):
        tensor = Tensor(node.name, _tensor_type(checker, node.type), node.span)
        checker.declare(node.name, tensor, node.span)
        return tensor
    return _bind_scalar(checker, node, node.type)


def _bind_scalar(checker: Checker, node: ParameterNode, kind: NamedType) -> ScalarArgument:
    dtype = resolve_dtype(checker, kind)
    expr = ScalarArgument(type=ScalarType(dtype), span=node.span, name=node.name)
    checker.declare(node.name, Alias(expr, "a parameter"), node.span)
    return expr


def _tensor_type(checker: Checker, node: ShapedType) -> TensorType:
    if node.kind != "tensor":
        message = f"a {node.kind} is not a parameter of a kernel"
        help = f"declare it in the body: `var t: {node.kind}<...>[...]`"
        raise checker.error("PH104", message, node.span, help)
    dtype = resolve_dtype(checker, node.element)
    return TensorType(dtype, tuple(_dim(checker, d) for d in node.dims))


def _dim(checker: Checker, node: Expression) -> Dim:
    """A constant, or a symbol, which is bound as the run-time extent where it first appears."""
    if not isinstance(node, Name):
        return _constant_dim(checker, node)
    binding = checker.scope.find(node.text)
    if binding is None:
        extent = Extent(type=ScalarType(INDEX), span=node.span, symbol=node.text)
        checker.scope.names[node.text] = Alias(extent, "an extent")
        return node.text
    if isinstance(binding, Alias) and isinstance(binding.expr, Extent):
        return node.text
    return _constant_dim(checker, node)


def _constant_dim(checker: Checker, node: Expression) -> int:
    extent = constant_int(checker, node, "a tensor dim")
    if extent < 0:
        raise checker.error("PH105", f"a tensor dim is not negative, found {extent}", node.span)
    return extent
