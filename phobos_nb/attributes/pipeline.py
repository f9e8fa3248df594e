"""`@pipeline` and `@pipeline(stages)`: asserts that a loop overlaps copies with arithmetic."""

from __future__ import annotations

from collections.abc import Mapping

from phobos_nb.language.attribute_arguments import expect_named, expect_positional, integer, place
from phobos_nb.language.registry import Attribute, AttributeSite

FORM = "@pipeline or @pipeline(stages)"


def check(site: AttributeSite) -> Mapping[str, object]:
    """stages: the depth asked for, 0 where it is the compiler's choice."""
    expect_positional(site, 1, FORM)
    expect_named(site, (), FORM)
    if not site.positional:
        return {"stages": 0}
    stages = integer(site, 0, "the number of stages")
    if not 2 <= stages <= 16:
        message = f"a pipeline has 2 to 16 stages, found {stages}"
        raise site.diagnostics.error("PH402", message, place(site, 0))
    return {"stages": stages}


SPEC = Attribute(
    name="pipeline",
    signature=FORM,
    doc=(
        "Asserts that a loop is double-buffered or deeper: while the CTA computes on one slice, the "
        "next is being copied. Eligible loops pipeline by default without it."
    ),
    effect="Fails the compilation, listing for every loop why not, if no loop is pipelined.",
    check=check,
)
