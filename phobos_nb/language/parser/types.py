"""Type expressions: scalars, `tensor<T>[..]`, `tile<T>[..]`, `shared<T>[..]`."""

from __future__ import annotations

from phobos_nb.language.parser.cursor import Cursor
from phobos_nb.language.parser.expressions import ADDITIVE, parse_expression
from phobos_nb.language.tree import NamedType, ShapedType, TypeExpression

SHAPED_KINDS = ("tensor", "tile", "shared")


def parse_type(cursor: Cursor) -> TypeExpression:
    """One type."""
    name = cursor.expect_name("a type")
    if name.text not in SHAPED_KINDS or not cursor.at("<", "["):
        return NamedType(name.text, span=name.span)
    cursor.expect("<", f"after `{name.text}`", f"write `{name.text}<f32>[...]`")
    element = cursor.expect_name("an element type such as `f32`")
    cursor.expect(">", "after the element type")
    cursor.expect("[", "before the dims")
    dims = cursor.listed(lambda: parse_expression(cursor, ADDITIVE), "]", "in the dims")
    if not dims:
        cursor.diagnostics.error(
            "PH004", f"a {name.text} has at least one dim", cursor.previous, stage="parse"
        )
    return ShapedType(
        name.text,
        NamedType(element.text, span=element.span),
        dims,
        span=name.span.to(cursor.previous),
    )
