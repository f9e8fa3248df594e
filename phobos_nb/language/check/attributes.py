"""The attributes above a kernel: known or not, their arguments, what is kept of them."""

from __future__ import annotations

from collections.abc import Mapping

from phobos_nb.diagnostics import Diagnostics, Stop
from phobos_nb.language.registry import Attributes, AttributeSite
from phobos_nb.language.suggest import did_you_mean
from phobos_nb.language.tree import (
    AttributeNode,
    Boolean,
    Expression,
    Float,
    Integer,
    Name,
    NamedArgument,
    Prefix,
    SpaceArgument,
)
from phobos_nb.language.typed import AttributeUse
from phobos_nb.source import Span


def check_attributes(
    nodes: tuple[AttributeNode, ...],
    attributes: Attributes,
    constants: Mapping[str, int],
    extents: tuple[str, ...],
    diagnostics: Diagnostics,
) -> tuple[AttributeUse, ...]:
    """The known attributes after their checks.

    Unknown ones warn (PH401), doubled ones and wrong arguments are errors (PH403, PH402), those
    that change nothing yet say so in a note (PH406).
    """
    uses: list[AttributeUse] = []
    for node in nodes:
        if node.name not in attributes:
            help = did_you_mean(node.name, attributes)
            message = f"`@{node.name}` is not an attribute and changes nothing"
            diagnostics.warn("PH401", message, node.span, help=help)
            continue
        try:
            if any(u.name == node.name for u in uses):
                raise diagnostics.error("PH403", f"`@{node.name}` is given twice", node.span)
            uses.append(_check(node, attributes, constants, extents, diagnostics))
        except Stop:
            continue
    return tuple(uses)


def _check(
    node: AttributeNode,
    attributes: Attributes,
    constants: Mapping[str, int],
    extents: tuple[str, ...],
    diagnostics: Diagnostics,
) -> AttributeUse:
    spec = attributes[node.name]
    values = spec.check(_site(node, constants, extents, diagnostics))
    if spec.inert:
        message = f"`@{node.name}` is accepted but changes nothing yet"
        diagnostics.note("PH406", message, node.span, help=spec.effect)
    return AttributeUse(node.name, values, node.span)


def _site(
    node: AttributeNode,
    constants: Mapping[str, int],
    extents: tuple[str, ...],
    diagnostics: Diagnostics,
) -> AttributeSite:
    positional: list[object] = []
    named: dict[str, object] = {}
    spans: dict[int | str, Span] = {}
    for argument in node.arguments:
        if isinstance(argument, SpaceArgument | NamedArgument):
            if argument.name in named:
                message = f"`{argument.name}` is given twice in `@{node.name}`"
                raise diagnostics.error("PH402", message, argument.span)
            value = (
                argument.values
                if isinstance(argument, SpaceArgument)
                else _value(argument.value, diagnostics)
            )
            named[argument.name], spans[argument.name] = value, argument.span
        else:
            spans[len(positional)] = argument.span
            positional.append(_value(argument.value, diagnostics))
    return AttributeSite(
        node.name, tuple(positional), named, node.span, diagnostics, spans, constants, extents
    )


def _value(node: Expression, diagnostics: Diagnostics) -> object:
    match node:
        case Integer(value=value) | Float(value=value) | Boolean(value=value):
            return value
        case Prefix(op="-", operand=Integer(value=value) | Float(value=value)):
            return -value
        case Name(text=text):
            return text
        case _:
            message = "an attribute argument is a number, `true`, `false` or a name"
            raise diagnostics.error("PH402", message, node.span)
