"""One function per stage: the only place where compilation meets the rooms that do the work.

Rooms are imported inside the functions: a NumPy call loads no xDSL, and no stage loads the next.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from phobos_nb.language.tree import KernelNode, Program
from phobos_nb.language.typed import TypedKernel
from phobos_nb.source import Source

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from phobos_nb.arguments.grid import Grid
    from phobos_nb.arguments.scalars import Scalar


def parse(source: Source) -> Program:
    """Text to syntax tree."""
    from phobos_nb.language.frontend import parse as parse_text

    return parse_text(source)


def check(program: Program, kernel: str, constants: Mapping[str, int]) -> TypedKernel:
    """Syntax tree to typed kernel for one set of constants."""
    from phobos_nb import attributes, builtins
    from phobos_nb.language.frontend import check as check_kernel

    return check_kernel(program, kernel, constants, builtins.table(), attributes.table())


def constant_names(kernel: KernelNode) -> set[str]:
    """The names whose values a caller may set: tuning names, generics, dims of tensors."""
    from phobos_nb.language.check.configuration import search_space, tensor_dims

    generics = {g.name for g in kernel.generics}
    return {*search_space(kernel), *generics, *(name for name, _ in tensor_dims(kernel))}


def run_meaning(
    typed: TypedKernel, arrays: Mapping[str, Any], scalars: Mapping[str, Scalar], grid: Grid
) -> None:
    """Run a kernel on NumPy arrays on the CPU; what it prints goes to standard output."""
    from phobos_nb import builtins
    from phobos_nb.language.meaning import run

    result = run(typed, {**arrays, **scalars}, grid, builtins=builtins.table())
    for line in result.printed:
        sys.stdout.write(f"{line.text}\n")


def text(module: ModuleOp) -> str:
    """A module in the generic form that upstream reads, with source locations."""
    from phobos_nb.ir.text import generic

    return generic(module, locations=True)
