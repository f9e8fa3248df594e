"""The typed kernel: what the checker produces, and what the NumPy meaning and the tile MLIR read.

Every name is resolved, every constant folded, every function inlined, every conversion explicit,
every branch on a constant decided. Views are gone: binding `let v = A[s]` stores the subscript
values in hidden variables, and each use of `v` is a `TileRead` of them, so memory is read at the use.
Operands of `Binary`, `Compare` and `Logical` have one dtype; tile operands stretch as in NumPy and
scalars mix with tiles without a node of their own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from phobos_nb.contract import GridRule, Parameter, ScalarParameter, TensorParameter
from phobos_nb.diagnostics import Diagnostic
from phobos_nb.dtypes import DType
from phobos_nb.language.types import SharedType, TensorType, Uniformity, ValueType
from phobos_nb.source import Source, Span


@dataclass(frozen=True, eq=False)
class Variable:
    """A local variable (or hidden value); compared by identity, since names may be shadowed."""

    name: str
    type: ValueType
    mutable: bool
    span: Span


@dataclass(frozen=True, eq=False)
class Tensor:
    """A tensor parameter as the body refers to it."""

    name: str
    type: TensorType
    span: Span


@dataclass(frozen=True, eq=False)
class SharedArray:
    """A `shared<T>[..]` declaration; one per CTA whatever the control flow around it."""

    name: str
    type: SharedType
    span: Span


# Expressions -----------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Expr:
    """An expression; `uniformity` says which threads share its value (tiles are CTA)."""

    type: ValueType
    span: Span
    uniformity: Uniformity = Uniformity.CTA


@dataclass(frozen=True, kw_only=True)
class Constant(Expr):
    """A scalar constant of `type.dtype`: int, float or bool.

    `literal` marks one that was written as a number and still adapts to the other operand.
    """

    value: int | float | bool
    literal: bool = field(default=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class VariableRead(Expr):
    """The present value of a local variable."""

    variable: Variable


@dataclass(frozen=True, kw_only=True)
class ScalarArgument(Expr):
    """A scalar parameter's value."""

    name: str


@dataclass(frozen=True, kw_only=True)
class Extent(Expr):
    """The run-time extent named by a symbol, an index."""

    symbol: str


@dataclass(frozen=True, kw_only=True)
class Context(Expr):
    """`ctx.*`: kind is block, blocks (with axis 0..2), thread, warp or lane (axis 0)."""

    kind: str
    axis: int = 0


@dataclass(frozen=True, kw_only=True)
class Unary(Expr):
    """`-`, `!` or `~`, elementwise."""

    op: str
    operand: Expr


@dataclass(frozen=True, kw_only=True)
class Binary(Expr):
    """`+ - * / % & | ^ << >>`, elementwise; both operands have the result's dtype."""

    op: str
    left: Expr
    right: Expr


@dataclass(frozen=True, kw_only=True)
class Compare(Expr):
    """`== != < <= > >=`, elementwise; both operands have one dtype, the result is bool."""

    op: str
    left: Expr
    right: Expr


@dataclass(frozen=True, kw_only=True)
class Logical(Expr):
    """`&&` or `||`; on scalars the right side runs only where the left does not decide."""

    op: str
    left: Expr
    right: Expr


@dataclass(frozen=True, kw_only=True)
class Convert(Expr):
    """A conversion of a scalar or tile to `type.dtype` by the rules of LANGUAGE section 2."""

    operand: Expr


@dataclass(frozen=True, kw_only=True)
class Fill(Expr):
    """A tile of `type.shape` filled with a scalar, or a tile stretched to that shape."""

    operand: Expr


@dataclass(frozen=True)
class Point:
    """A subscript that picks one position and drops its axis."""

    index: Expr


@dataclass(frozen=True)
class Slice:
    """`length` positions from `start`; those at or past `stop` (a run-time end) count as outside.

    whole: part of `:`, which names nothing past the tensor's end.
    """

    start: Expr
    length: int
    stop: Expr | None = None
    whole: bool = False


Subscript = Point | Slice


@dataclass(frozen=True)
class Region:
    """A box of a tensor: one subscript per axis. Positions outside the tensor are masked."""

    tensor: Tensor
    subscripts: tuple[Subscript, ...]
    span: Span

    @property
    def shape(self) -> tuple[int, ...]:
        """The lengths of the sliced axes; points are dropped."""
        return tuple(s.length for s in self.subscripts if isinstance(s, Slice))


@dataclass(frozen=True, kw_only=True)
class TileRead(Expr):
    """The region's elements now; outside the tensor they are `pad`, or zero."""

    region: Region
    pad: Expr | None = None


@dataclass(frozen=True, kw_only=True)
class ElementRead(Expr):
    """One element of a tensor (zero outside) or of a shared array, per thread."""

    base: Tensor | SharedArray
    indices: tuple[Expr, ...]


@dataclass(frozen=True, kw_only=True)
class Call(Expr):
    """A built-in call. `arguments` are expressions or, where the built-in asks, a tensor.

    `attributes` hold what its checker decided at compile time (a diagonal offset, an axis).
    """

    builtin: str
    arguments: tuple[Expr | Tensor | SharedArray, ...]
    attributes: Mapping[str, int | float | str | bool] = field(
        default_factory=dict[str, int | float | str | bool]
    )


# Statements ------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Statement:
    """A statement; `span` is its source text, for line tables."""

    span: Span


@dataclass(frozen=True, kw_only=True)
class Assign(Statement):
    """Declares or sets a variable; a compound assignment arrives expanded to a `Binary`."""

    variable: Variable
    value: Expr
    declares: bool


@dataclass(frozen=True, kw_only=True)
class StoreTile(Statement):
    """Stores a tile (or a scalar, to every element) to a region, skipping what lies outside."""

    region: Region
    value: Expr


@dataclass(frozen=True, kw_only=True)
class StoreElement(Statement):
    """Stores one element per active thread, or `once` per CTA: the operands are CTA-uniform.

    `value` of a compound assignment reads the element itself, which does not count as an operand.
    """

    base: Tensor | SharedArray
    indices: tuple[Expr, ...]
    value: Expr
    once: bool = False


@dataclass(frozen=True, kw_only=True)
class Evaluate(Statement):
    """A call made for its effect: `barrier()`, an atomic, ..."""

    value: Call


@dataclass(frozen=True, kw_only=True)
class For(Statement):
    """A counted loop; bounds are evaluated once; a negative step counts down."""

    variable: Variable
    start: Expr
    stop: Expr
    step: Expr
    body: tuple[Statement, ...]
    unroll: int = 1


@dataclass(frozen=True, kw_only=True)
class While(Statement):
    """Runs `body` while `condition`, evaluated anew each time."""

    condition: Expr
    body: tuple[Statement, ...]


@dataclass(frozen=True, kw_only=True)
class If(Statement):
    """A branch on a scalar bool that is not a compile-time constant."""

    condition: Expr
    then: tuple[Statement, ...]
    otherwise: tuple[Statement, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Break(Statement):
    """Leaves the innermost loop, per thread."""


@dataclass(frozen=True, kw_only=True)
class Continue(Statement):
    """Goes on with the next iteration of the innermost loop, per thread."""


@dataclass(frozen=True, kw_only=True)
class Return(Statement):
    """Ends the kernel for the thread."""


@dataclass(frozen=True, kw_only=True)
class Assert(Statement):
    """Checked by the meaning, the simulator and, with debug, the GPU; `once` per CTA if uniform."""

    condition: Expr
    text: str
    arguments: tuple[Expr, ...] = ()
    once: bool = False


@dataclass(frozen=True, kw_only=True)
class Print(Statement):
    """Formatted output; `text` holds `{}` for each argument; `once` per CTA if all are uniform."""

    text: str
    arguments: tuple[Expr, ...]
    once: bool = False


@dataclass(frozen=True)
class AttributeUse:
    """An attribute above the kernel after checking: its name and its named values."""

    name: str
    values: Mapping[str, object]
    span: Span


@dataclass(frozen=True)
class TypedKernel:
    """A kernel for one configuration.

    constants: the values of every compile-time name. promises: symbol -> multiple (`@aligned`).
    space: `@autotune` names with all values a search visits. threads: of `@launch`.
    """

    name: str
    parameters: tuple[Parameter, ...]
    tensors: tuple[Tensor, ...]
    shared: tuple[SharedArray, ...]
    body: tuple[Statement, ...]
    attributes: tuple[AttributeUse, ...]
    constants: Mapping[str, int]
    space: Mapping[str, tuple[int, ...]]
    promises: Mapping[str, int]
    threads: int
    min_blocks: int
    max_registers: int
    grid: GridRule
    span: Span
    source: Source
    findings: tuple[Diagnostic, ...] = ()

    @property
    def scalars(self) -> tuple[ScalarParameter, ...]:
        """The scalar parameters in source order."""
        return tuple(p for p in self.parameters if isinstance(p, ScalarParameter))

    @property
    def tensor_parameters(self) -> tuple[TensorParameter, ...]:
        """The tensor parameters in source order."""
        return tuple(p for p in self.parameters if isinstance(p, TensorParameter))

    def dtype_of(self, name: str) -> DType:
        """The element type of a tensor parameter."""
        return next(t.type.dtype for t in self.tensors if t.name == name)
