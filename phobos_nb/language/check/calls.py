"""Calls: conversions, `pad`, `program_id`, functions and built-ins."""

from __future__ import annotations

from phobos_nb.diagnostics import Stop
from phobos_nb.dtypes import INDEX, SCALARS, DType, Kind
from phobos_nb.language import numeric
from phobos_nb.language.check import operators
from phobos_nb.language.check.argument import check_argument
from phobos_nb.language.check.checker import Checker
from phobos_nb.language.check.conversions import (
    constant,
    dtype_of,
    expect_uniform,
    shape_of,
    stored,
    with_shape,
)
from phobos_nb.language.check.expressions import check_scalar, check_value, constant_int
from phobos_nb.language.check.functions import inline
from phobos_nb.language.check.names import lookup
from phobos_nb.language.check.openness import CLOSING, open_axes
from phobos_nb.language.check.ordered import in_order
from phobos_nb.language.check.reads import tile_read
from phobos_nb.language.check.scope import View
from phobos_nb.language.check.subscripts import check_subscripts, resolve_base
from phobos_nb.language.check.whole import reduce_whole
from phobos_nb.language.hints import FOREIGN
from phobos_nb.language.registry import CallSite
from phobos_nb.language.suggest import did_you_mean
from phobos_nb.language.tree import CallExpression, Expression, Name, Subscripted
from phobos_nb.language.typed import (
    Constant,
    Context,
    Convert,
    Expr,
    Extent,
    Region,
    Slice,
    Tensor,
)
from phobos_nb.language.types import ScalarType, TileType, Uniformity

_COLLECTIVES = {"lanes": Uniformity.WARP, "CTA": Uniformity.CTA}
"""Groups of built-ins in which all threads of a warp or CTA take part."""


def check_call(checker: Checker, node: CallExpression) -> Expr:
    """A call by what its name stands for: a type, a function, a form of the language, a built-in."""
    name = node.callee.text
    binding = checker.scope.find(name)
    if isinstance(binding, DType):
        return _conversion(checker, node, binding)
    if binding is not None:
        what = f"`{name}` is a local name here and cannot be called"
        raise checker.error("PH107", what, node.callee.span, "rename it to reach the built-in")
    if name in checker.functions:
        return inline(checker, checker.functions[name], node)
    if name in SCALARS:
        return _conversion(checker, node, SCALARS[name])
    if name in _FORMS:
        return _FORMS[name](checker, node)
    if name in checker.builtins:
        whole = name in CLOSING and _reduces_whole(checker, node)
        return reduce_whole(checker, node) if whole else _builtin(checker, node)
    if name in checker.unknown:
        raise Stop(name)
    checker.unknown.add(name)
    known = [*checker.builtins, *checker.functions, *SCALARS, *_FORMS, "print"]
    help = FOREIGN.get(name) or did_you_mean(name, known)
    raise checker.error("PH101", f"there is no function `{name}`", node.callee.span, help)


def _reduces_whole(checker: Checker, node: CallExpression) -> bool:
    """Whether a reduction runs along an axis of run-time extent."""
    axis = CLOSING[node.callee.text]
    return len(node.arguments) == 1 and axis in open_axes(checker, node.arguments[0])


def expect_count(checker: Checker, node: CallExpression, count: int, form: str) -> None:
    """Report a wrong number of arguments (PH107); `form` shows how the call is written."""
    if len(node.arguments) != count:
        wanted = f"{count} argument{'s' if count != 1 else ''}"
        message = f"`{node.callee.text}` takes {wanted}, found {len(node.arguments)}"
        raise checker.error("PH107", message, node.span, f"write `{form}`")


def _conversion(checker: Checker, node: CallExpression, dtype: DType) -> Expr:
    expect_count(checker, node, 1, f"{node.callee.text}(x)")
    operand = check_value(checker, node.arguments[0])
    source = dtype_of(operand)
    if isinstance(operand, Constant):
        return constant(numeric.convert(operand.value, dtype), dtype, node.span)
    if dtype.kind is Kind.BOOL and source.kind is not Kind.BOOL:
        return operators.compare(checker, "!=", operand, constant(0, INDEX, node.span, True), node.span)
    if source == dtype:
        return operand
    kind = with_shape(dtype, shape_of(operand))
    return Convert(type=kind, span=node.span, uniformity=operand.uniformity, operand=operand)


def _pad(checker: Checker, node: CallExpression) -> Expr:
    expect_count(checker, node, 2, "pad(A[slice], value)")
    region = padded_region(checker, node.arguments[0])
    value = check_scalar(checker, node.arguments[1], "the value of `pad`")
    expect_uniform(checker, value, "`pad`")
    value = stored(checker, value, region.tensor.type.dtype, "the value of `pad`")
    return tile_read(region, value, node.span)


def padded_region(checker: Checker, node: Expression) -> Region:
    """The slice that `pad` is given, or the one that a view stands for."""
    if isinstance(node, Name):
        binding = lookup(checker, node)
        if isinstance(binding, View):
            return binding.region
    if isinstance(node, Subscripted):
        base = resolve_base(checker, node)
        subscripts = check_subscripts(checker, base, node)
        if isinstance(base, Tensor) and any(isinstance(s, Slice) for s in subscripts):
            return Region(base, subscripts, node.span)
    message = "`pad` wants a slice of a tensor"
    raise checker.error("PH104", message, node.span, "write `pad(A[i :+ n], value)`")


def _program_id(checker: Checker, node: CallExpression) -> Expr:
    expect_count(checker, node, 1, "program_id(0)")
    axis = constant_int(checker, node.arguments[0], "the axis of `program_id`")
    if axis not in (0, 1, 2):
        message = f"the grid has the axes 0, 1 and 2, found {axis}"
        raise checker.error("PH105", message, node.arguments[0].span)
    return Context(type=ScalarType(INDEX), span=node.span, kind="block", axis=axis)


def _extent(checker: Checker, node: CallExpression) -> Expr:
    expect_count(checker, node, 2, "extent(A, 0)")
    tensor = check_argument(checker, node.arguments[0])
    if not isinstance(tensor, Tensor):
        raise checker.error("PH104", "`extent` wants a tensor", node.arguments[0].span)
    axis = constant_int(checker, node.arguments[1], "the axis of `extent`")
    dims = tensor.type.dims
    if not 0 <= axis < len(dims):
        message = f"`{tensor.name}` has the axes 0 to {len(dims) - 1}, found {axis}"
        raise checker.error("PH105", message, node.arguments[1].span)
    dim = dims[axis]
    if isinstance(dim, int):
        return constant(dim, INDEX, node.span)
    return Extent(type=ScalarType(INDEX), span=node.span, symbol=dim)


def _print_as_value(checker: Checker, node: CallExpression) -> Expr:
    raise checker.error("PH104", "`print` yields no value", node.span, "it is a statement of its own")


_FORMS = {"pad": _pad, "program_id": _program_id, "extent": _extent, "print": _print_as_value}


def _builtin(checker: Checker, node: CallExpression) -> Expr:
    spec = checker.builtins[node.callee.text]
    arguments = in_order(checker, node.arguments, check_argument)
    values = tuple(a for a in arguments if isinstance(a, Expr))
    operators.expect_uniform_scalars(checker, values)
    level = _COLLECTIVES.get(spec.group)
    if level is not None:
        checker.require_together(level, f"`{spec.name}`", node.span)
    elif any(isinstance(a.type, TileType) for a in values):
        checker.require_together(Uniformity.CTA, "a tile operation", node.span)
    if not spec.pure and any(isinstance(a, Tensor) for a in arguments):
        _warn_repeated(checker, spec.name, values, node)
    site = CallSite(
        spec.name, arguments, node.span, checker.diagnostics, checker.constants, spec.signature
    )
    return spec.check(site)


def _warn_repeated(checker: Checker, name: str, values: tuple[Expr, ...], node: CallExpression) -> None:
    """An atomic on scalars that all threads repeat with the same operands is seldom meant."""
    uniform = operators.joined(*values) is Uniformity.CTA and checker.flow.level is Uniformity.CTA
    if uniform and not any(isinstance(v.type, TileType) for v in values):
        checker.diagnostics.warn(
            "PH304",
            f"every thread of the CTA repeats this `{name}` with the same operands",
            node.span,
            help="guard it with `if ctx.thread == 0`, or use `A[i] += s`, which adds once per CTA",
        )
