"""A program in which every number with a fraction has one type: what it means without its roundings."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

from phobos_nb.language.slips.trees import rebuilt
from phobos_nb.language.tree import CallExpression, Float, KernelNode, Name, NamedType, Node, Program

FLOATS = frozenset(("f16", "bf16", "f32", "f64"))


def with_floats(program: Program, dtype: str) -> Program:
    """The program with `dtype` in place of every float type, in conversions too.

    Tensors of floats become tensors of it, and numbers are written as of it. Built-ins that read a
    number's bits may not type-check then.
    """
    kernels = tuple(cast(KernelNode, _changed(k, dtype)) for k in program.kernels)
    functions = tuple(cast(Any, _changed(f, dtype)) for f in program.functions)
    return replace(program, kernels=kernels, functions=functions)


def _changed(node: Node, dtype: str) -> Node:
    if isinstance(node, NamedType):
        return replace(node, name=dtype) if node.name in FLOATS else node
    if isinstance(node, Float) or (isinstance(node, Name) and node.text in ("inf", "nan")):
        return CallExpression(Name(dtype), (node,), span=node.span)  # alone it would be f32
    new = rebuilt(node, lambda child: _changed(child, dtype))
    if isinstance(new, CallExpression) and new.callee.text in FLOATS:
        return replace(new, callee=replace(new.callee, text=dtype))
    return new
