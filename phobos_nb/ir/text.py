"""MLIR as text: printed for people, printed for upstream, and read back."""

from __future__ import annotations

from io import StringIO

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.parser import Parser
from xdsl.printer import Printer

from phobos_nb.ir.context import context


def custom(op: Operation, *, locations: bool = False) -> str:
    """The readable form, for people; with `locations`, each op ends in `loc(..)`.

    Upstream does not read all of it (`gpu.func`, a token-less `create_group`): send it `generic`.
    """
    return _print(op, generic=False, locations=locations)


def generic(op: Operation, *, locations: bool = False) -> str:
    """The generic form, which upstream's tools read without loss."""
    return _print(op, generic=True, locations=locations)


def parse(text: str) -> ModuleOp:
    """Read a module in either form.

    Raises
    ------
    xdsl.utils.exceptions.ParseError
        With the place in the text.
    """
    return Parser(context(), text).parse_module()


def _print(op: Operation, *, generic: bool, locations: bool) -> str:
    stream = StringIO()
    Printer(stream, print_generic_format=generic, print_debuginfo=locations).print_op(op)
    return stream.getvalue() + "\n"
