"""The syntax tree back to text; parsing that text gives an equal tree."""

from __future__ import annotations

from typing import cast

from phobos_nb.language.parser.expressions import PRECEDENCE, PREFIX
from phobos_nb.language.tree import (
    Along,
    AssertStatement,
    At,
    AttributeArgument,
    AttributeNode,
    Between,
    Block,
    Boolean,
    BreakStatement,
    CallExpression,
    CallStatement,
    ContinueStatement,
    Declare,
    Expression,
    Field,
    Float,
    ForStatement,
    FunctionNode,
    Generic,
    IfStatement,
    Infix,
    Integer,
    KernelNode,
    Name,
    NamedArgument,
    NamedType,
    Node,
    ParameterNode,
    Prefix,
    Program,
    ReturnStatement,
    ShapedType,
    SpaceArgument,
    StatementNode,
    Subscript,
    Subscripted,
    Text,
    TypeExpression,
    Update,
    WhileStatement,
)


def unparse(program: Program) -> str:
    """The program in one canonical layout; comments are not kept."""
    declarations = [_kernel(k) for k in program.kernels] + [_function(f) for f in program.functions]
    return "\n".join(declarations)


def unparse_node(node: Node) -> str:
    """An expression, a subscript, a type or a statement; a statement with blocks in several lines."""
    if isinstance(node, At | Between | Along):
        return _subscript(node)
    if isinstance(node, NamedType | ShapedType):
        return unparse_type(node)
    if isinstance(node, Expression):
        return unparse_expression(node)
    return _statement(cast(StatementNode, node), "")


def unparse_expression(node: Expression, loosest: int = 0) -> str:
    """An expression with only the parentheses it needs below an operator of level `loosest`."""
    match node:
        case Integer(value=value):
            return str(value)
        case Float():
            return node.text or repr(node.value)
        case Boolean(value=value):
            return "true" if value else "false"
        case Text(value=value):
            return _quoted(value)
        case Name(text=text):
            return text
        case Prefix(op=op, operand=operand):
            return op + unparse_expression(operand, PREFIX)
        case Infix():
            return _infix(node, loosest)
        case Field(base=base, name=name):
            return f"{_parenthesised_unless_postfix(base)}.{name}"
        case CallExpression(callee=callee, arguments=arguments):
            return f"{callee.text}({', '.join(unparse_expression(a) for a in arguments)})"
        case Subscripted(base=base, subscripts=subscripts):
            return f"{base.text}[{', '.join(_subscript(s) for s in subscripts)}]"


def _parenthesised_unless_postfix(node: Expression) -> str:
    text = unparse_expression(node)
    return f"({text})" if isinstance(node, Prefix | Infix | Integer | Float) else text


def _infix(node: Infix, loosest: int) -> str:
    level = PRECEDENCE[node.op]
    left = unparse_expression(node.left, level)
    right = unparse_expression(node.right, level + 1)
    text = f"{left} {node.op} {right}"
    return f"({text})" if level < loosest else text


def _quoted(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def _subscript(node: Subscript) -> str:
    match node:
        case At(index=index):
            return unparse_expression(index)
        case Between(start=start, stop=stop):
            return f"{_optional(start)} : {_optional(stop)}".strip()
        case Along(start=start, length=length, until=until):
            end = f" until {unparse_expression(until)}" if until else ""
            return f"{unparse_expression(start)} :+ {unparse_expression(length)}{end}"


def _optional(node: Expression | None) -> str:
    return unparse_expression(node) if node else ""


def unparse_type(node: TypeExpression) -> str:
    """A type as written."""
    if isinstance(node, NamedType):
        return node.name
    dims = ", ".join(unparse_expression(d) for d in node.dims)
    return f"{node.kind}<{node.element.name}>[{dims}]"


def _block(block: Block, indent: str) -> str:
    inner = indent + "  "
    lines = [f"{inner}{_statement(s, inner)}\n" for s in block]
    return "{\n" + "".join(lines) + indent + "}"


def _statement(node: StatementNode, indent: str) -> str:
    match node:
        case Declare():
            return _declare(node)
        case Update(target=target, op=op, value=value):
            return f"{unparse_expression(target)} {op}= {unparse_expression(value)}"
        case CallStatement(call=call):
            return unparse_expression(call)
        case AssertStatement(condition=condition, text=text):
            return f"assert {unparse_expression(condition)}, {_quoted(text.value)}"
        case ForStatement():
            return _for(node, indent)
        case WhileStatement(condition=condition, body=body):
            return f"while {unparse_expression(condition)} {_block(body, indent)}"
        case IfStatement():
            return _if(node, indent)
        case BreakStatement():
            return "break"
        case ContinueStatement():
            return "continue"
        case ReturnStatement(value=value):
            return f"return {_optional(value)}".rstrip()


def _declare(node: Declare) -> str:
    kind = f": {unparse_type(node.type)}" if node.type else ""
    value = f" = {unparse_expression(node.value)}" if node.value else ""
    return f"{'var' if node.mutable else 'let'} {node.name.text}{kind}{value}"


def _for(node: ForStatement, indent: str) -> str:
    unroll = f"<unroll {node.unroll}>" if node.unroll else ""
    bounds = [b for b in (node.start, node.stop, node.step) if b is not None]
    listed = ", ".join(unparse_expression(b) for b in bounds)
    return f"for{unroll} {node.name.text} in range({listed}) {_block(node.body, indent)}"


def _if(node: IfStatement, indent: str) -> str:
    text = f"if {unparse_expression(node.condition)} {_block(node.then, indent)}"
    if node.otherwise is None:
        return text
    if len(node.otherwise) == 1 and isinstance(node.otherwise[0], IfStatement):
        return f"{text} else {_if(node.otherwise[0], indent)}"
    return f"{text} else {_block(node.otherwise, indent)}"


def _kernel(node: KernelNode) -> str:
    attributes = "".join(_attribute(a) + "\n" for a in node.attributes)
    return f"{attributes}kernel {_header(node)} {_block(node.body, '')}\n"


def _function(node: FunctionNode) -> str:
    result = f" -> {unparse_type(node.result)}" if node.result else ""
    return f"fn {_header(node)}{result} {_block(node.body, '')}\n"


def _header(node: KernelNode | FunctionNode) -> str:
    generics = ", ".join(_generic(g) for g in node.generics)
    parameters = ", ".join(_parameter(p) for p in node.parameters)
    return f"{node.name}{f'<{generics}>' if generics else ''}({parameters})"


def _generic(node: Generic) -> str:
    default = f" = {unparse_expression(node.default)}" if node.default else ""
    return f"{node.name}: {node.kind}{default}"


def _parameter(node: ParameterNode) -> str:
    return f"{node.name}: {unparse_type(node.type)}"


def _attribute(node: AttributeNode) -> str:
    arguments = ", ".join(_argument(a) for a in node.arguments)
    return f"@{node.name}({arguments})" if arguments else f"@{node.name}"


def _argument(node: AttributeArgument) -> str:
    if isinstance(node, SpaceArgument):
        return f"{node.name} in [{', '.join(map(str, node.values))}]"
    if isinstance(node, NamedArgument):
        return f"{node.name} = {unparse_expression(node.value)}"
    return unparse_expression(node.value)
