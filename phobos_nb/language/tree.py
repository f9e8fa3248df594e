"""The syntax tree: what the text says, before any name or type is looked at.

Every node carries the span of its text. Spans take no part in equality, so that two trees are equal
when their texts differ in layout only.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from phobos_nb.source import Source, Span


@dataclass(frozen=True, kw_only=True)
class Node:
    """A piece of the program with its place in the text."""

    span: Span = field(default=Span(0, 0), compare=False)


# Expressions -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Integer(Node):
    """An integer literal, never negative."""

    value: int


@dataclass(frozen=True)
class Float(Node):
    """A float literal; `text` keeps how it was written."""

    value: float
    text: str = field(default="", compare=False)


@dataclass(frozen=True)
class Boolean(Node):
    """`true` or `false`."""

    value: bool


@dataclass(frozen=True)
class Text(Node):
    """A string literal after its escapes; doubled braces stay doubled."""

    value: str


@dataclass(frozen=True)
class Name(Node):
    """A name in an expression."""

    text: str


@dataclass(frozen=True)
class Prefix(Node):
    """`-`, `!` or `~` before an operand."""

    op: str
    operand: Expression


@dataclass(frozen=True)
class Infix(Node):
    """A binary operator with its operands."""

    op: str
    left: Expression
    right: Expression


@dataclass(frozen=True)
class Field(Node):
    """`base.name`."""

    base: Expression
    name: str


@dataclass(frozen=True)
class CallExpression(Node):
    """`name(arguments)`."""

    callee: Name
    arguments: tuple[Expression, ...]


@dataclass(frozen=True)
class Subscripted(Node):
    """`base[subscripts]`."""

    base: Name
    subscripts: tuple[Subscript, ...]


@dataclass(frozen=True)
class At(Node):
    """The subscript `i`: one position."""

    index: Expression


@dataclass(frozen=True)
class Between(Node):
    """The subscript `start : stop`; either side may be missing."""

    start: Expression | None
    stop: Expression | None


@dataclass(frozen=True)
class Along(Node):
    """The subscript `start :+ length`, optionally `until` a run-time end.

    whole: it stands for a part of `:`, which names nothing past the tensor's end.
    """

    start: Expression
    length: Expression
    until: Expression | None = None
    whole: bool = False


Subscript = At | Between | Along
Literal = Integer | Float | Boolean | Text
Expression = Literal | Name | Prefix | Infix | Field | CallExpression | Subscripted


# Types -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class NamedType(Node):
    """A scalar type or the name of a dtype parameter."""

    name: str


@dataclass(frozen=True)
class ShapedType(Node):
    """`tensor`, `tile` or `shared` of an element type with dims."""

    kind: str
    element: NamedType
    dims: tuple[Expression, ...]


TypeExpression = NamedType | ShapedType


# Statements ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Declare(Node):
    """`let` or `var`; `mutable` for `var`."""

    mutable: bool
    name: Name
    type: TypeExpression | None
    value: Expression | None


@dataclass(frozen=True)
class Update(Node):
    """An assignment; `op` is empty for `=` and the operator of a compound one, such as `+`."""

    target: Name | Subscripted
    op: str
    value: Expression


@dataclass(frozen=True)
class CallStatement(Node):
    """A call made for its effect."""

    call: CallExpression


@dataclass(frozen=True)
class AssertStatement(Node):
    """`assert condition, "text"`."""

    condition: Expression
    text: Text


@dataclass(frozen=True)
class ForStatement(Node):
    """`for name in range(...)`; `start` and `step` are None when not written."""

    name: Name
    start: Expression | None
    stop: Expression
    step: Expression | None
    body: Block
    unroll: int | None = None


@dataclass(frozen=True)
class WhileStatement(Node):
    """`while condition { ... }`."""

    condition: Expression
    body: Block


@dataclass(frozen=True)
class IfStatement(Node):
    """`if`; `otherwise` is None without an `else`, and holds one `if` for an `else if`."""

    condition: Expression
    then: Block
    otherwise: Block | None


@dataclass(frozen=True)
class BreakStatement(Node):
    """`break`."""


@dataclass(frozen=True)
class ContinueStatement(Node):
    """`continue`."""


@dataclass(frozen=True)
class ReturnStatement(Node):
    """`return`, with a value in functions."""

    value: Expression | None


Block = tuple["StatementNode", ...]
StatementNode = (
    Declare
    | Update
    | CallStatement
    | AssertStatement
    | ForStatement
    | WhileStatement
    | IfStatement
    | BreakStatement
    | ContinueStatement
    | ReturnStatement
)


# Declarations ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Generic(Node):
    """A compile-time parameter: kind is dtype, int or bool."""

    name: str
    kind: str
    default: Expression | None


@dataclass(frozen=True)
class ParameterNode(Node):
    """One parameter of a kernel or function."""

    name: str
    type: TypeExpression


@dataclass(frozen=True)
class SpaceArgument(Node):
    """`X in [values]` in an attribute."""

    name: str
    values: tuple[int, ...]


@dataclass(frozen=True)
class NamedArgument(Node):
    """`X = value` in an attribute."""

    name: str
    value: Expression


@dataclass(frozen=True)
class PlainArgument(Node):
    """A literal or name alone in an attribute."""

    value: Expression


AttributeArgument = SpaceArgument | NamedArgument | PlainArgument


@dataclass(frozen=True)
class AttributeNode(Node):
    """`@name(arguments)` above a kernel."""

    name: str
    arguments: tuple[AttributeArgument, ...]


@dataclass(frozen=True)
class KernelNode(Node):
    """A kernel; `name_span` is the place of its name."""

    name: str
    attributes: tuple[AttributeNode, ...]
    generics: tuple[Generic, ...]
    parameters: tuple[ParameterNode, ...]
    body: Block
    name_span: Span = field(default=Span(0, 0), compare=False)


@dataclass(frozen=True)
class FunctionNode(Node):
    """A function; `result` is None when it yields nothing."""

    name: str
    generics: tuple[Generic, ...]
    parameters: tuple[ParameterNode, ...]
    result: TypeExpression | None
    body: Block
    name_span: Span = field(default=Span(0, 0), compare=False)


@dataclass(frozen=True)
class Program:
    """One text: its kernels and functions in source order."""

    kernels: tuple[KernelNode, ...]
    functions: tuple[FunctionNode, ...]
    source: Source = field(compare=False)
