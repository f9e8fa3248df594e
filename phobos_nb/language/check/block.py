"""Blocks: statement after statement, going on after a faulty one."""

from __future__ import annotations

from phobos_nb.diagnostics import Stop
from phobos_nb.language.check.checker import Checker
from phobos_nb.language.check.scope import Broken
from phobos_nb.language.check.undeclared import report_undeclared
from phobos_nb.language.tree import Block, Declare, StatementNode
from phobos_nb.language.typed import Statement


def check_block(checker: Checker, block: Block) -> tuple[Statement, ...]:
    """The typed statements of a block with a scope of its own."""
    with checker.nested_scope(), checker.collect() as emitted:
        check_statements(checker, block)
    return tuple(emitted)


def check_statements(checker: Checker, block: Block) -> None:
    """Check statements in the current scope, emitting them."""
    for node in block:
        checker.flow.reported = False
        try:
            with checker.deeper(node.span):
                checker.statement_rules[type(node)](checker, node)
        except Stop:
            report_undeclared(checker, node)
            _break_name(checker, node)


def _break_name(checker: Checker, node: StatementNode) -> None:
    """Keep uses of a name whose declaration failed from being reported as well."""
    if isinstance(node, Declare) and node.name.text not in checker.scope.names:
        checker.scope.names[node.name.text] = Broken()
