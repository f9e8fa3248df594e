"""Function bodies whose `return`s have become assignments, so that they can stand inside a caller.

`return` inside a branch sends what follows into the other branch or under a flag; inside a loop it
sets the flag and breaks.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from phobos_nb.language.tree import (
    Block,
    Boolean,
    BreakStatement,
    Expression,
    ForStatement,
    IfStatement,
    Name,
    Prefix,
    ReturnStatement,
    StatementNode,
    Update,
    WhileStatement,
)
from phobos_nb.source import Span

RESULT = "return value"
RETURNED = "has returned"
"""Names that no text can contain."""


@dataclass(frozen=True)
class Structured:
    """A body without `return`.

    value: the expression of a single `return` at the end; None where the body assigns `RESULT`, or
    yields nothing. flagged: whether it uses the flag `RETURNED`.
    """

    body: Block
    value: Expression | None
    assigns: bool
    flagged: bool


def structured(body: Block) -> Structured:
    """Rewrite a function body; statements after a sure `return` are dropped."""
    if body and isinstance(body[-1], ReturnStatement) and not any(_may_return(s) for s in body[:-1]):
        return Structured(body[:-1], body[-1].value, assigns=False, flagged=False)
    rewritten, flagged = _rewrite(body, in_loop=False)
    return Structured(rewritten, None, assigns=any(_returns_value(s) for s in body), flagged=flagged)


def returns(body: Block) -> list[ReturnStatement]:
    """Every `return` of a body."""
    found: list[ReturnStatement] = []
    for node in body:
        if isinstance(node, ReturnStatement):
            found.append(node)
        for block in _blocks(node):
            found += returns(block)
    return found


def _blocks(node: StatementNode) -> list[Block]:
    match node:
        case IfStatement(then=then, otherwise=otherwise):
            return [then, otherwise or ()]
        case ForStatement(body=body) | WhileStatement(body=body):
            return [body]
        case _:
            return []


def _may_return(node: StatementNode) -> bool:
    return bool(returns((node,)))


def _returns_value(node: StatementNode) -> bool:
    return any(r.value is not None for r in returns((node,)))


def surely_returns(block: Block) -> bool:
    """Whether no thread runs past the end of a block."""
    for node in block:
        if isinstance(node, ReturnStatement):
            return True
        if isinstance(node, IfStatement) and all(surely_returns(b) for b in _blocks(node)):
            return True
    return False


def _rewrite(block: Block, in_loop: bool) -> tuple[Block, bool]:
    """The block without `return`, and whether the flag says that it returned."""
    for position, node in enumerate(block):
        before, rest = block[:position], block[position + 1 :]
        if isinstance(node, ReturnStatement):
            return (*before, *_leave(node, in_loop)), in_loop
        if not _may_return(node):
            continue
        if isinstance(node, IfStatement):
            tail, flagged = _rewrite_if(node, rest, in_loop)
        else:
            tail, flagged = _rewrite_loop(node, rest, in_loop)
        return (*before, *tail), flagged
    return block, False


def _leave(node: ReturnStatement, in_loop: bool) -> Block:
    span = node.span
    result: Block = ()
    if node.value is not None:
        result = (Update(Name(RESULT, span=span), "", node.value, span=span),)
    if not in_loop:
        return result
    return (*result, _raise_flag(span), BreakStatement(span=span))


def _raise_flag(span: Span) -> Update:
    return Update(Name(RETURNED, span=span), "", Boolean(True, span=span), span=span)


def _rewrite_if(node: IfStatement, rest: Block, in_loop: bool) -> tuple[Block, bool]:
    """`if c { return a } rest` becomes `if c { result = a } else { rest }`."""
    otherwise = node.otherwise or ()
    if surely_returns(node.then):
        then, first = _rewrite(node.then, in_loop)
        other, second = _rewrite((*otherwise, *rest), in_loop)
    elif surely_returns(otherwise):
        then, first = _rewrite((*node.then, *rest), in_loop)
        other, second = _rewrite(otherwise, in_loop)
    else:
        return _rewrite_open_if(node, rest, in_loop)
    return (replace(node, then=then, otherwise=other),), first or second


def _rewrite_open_if(node: IfStatement, rest: Block, in_loop: bool) -> tuple[Block, bool]:
    """Neither branch is sure to return: the flag says whether the rest still runs."""
    then, _ = _rewrite(_flagging(node.then), in_loop)
    otherwise = None if node.otherwise is None else _rewrite(_flagging(node.otherwise), in_loop)[0]
    return (replace(node, then=then, otherwise=otherwise), *_guarded(rest, node.span, in_loop)), True


def _flagging(block: Block) -> Block:
    """The block with the flag raised before every `return` outside nested loops."""
    out: list[StatementNode] = []
    for node in block:
        if isinstance(node, ReturnStatement):
            out.append(_raise_flag(node.span))
        if isinstance(node, IfStatement):
            other = None if node.otherwise is None else _flagging(node.otherwise)
            node = replace(node, then=_flagging(node.then), otherwise=other)
        out.append(node)
    return tuple(out)


def _guarded(rest: Block, span: Span, in_loop: bool) -> Block:
    """`rest` for those who have not returned."""
    if not rest:
        return ()
    body, _ = _rewrite(_flagging(rest), in_loop)
    test = Prefix("!", Name(RETURNED, span=span), span=span)
    return (IfStatement(test, body, None, span=span),)


def _rewrite_loop(node: StatementNode, rest: Block, in_loop: bool) -> tuple[Block, bool]:
    assert isinstance(node, ForStatement | WhileStatement)
    body, _ = _rewrite(node.body, in_loop=True)
    loop = replace(node, body=body)
    if not in_loop:
        return (loop, *_guarded(rest, node.span, in_loop=False)), True
    leave = IfStatement(
        Name(RETURNED, span=node.span), (BreakStatement(span=node.span),), None, span=node.span
    )
    tail, _ = _rewrite(rest, in_loop=True)
    return (loop, leave, *tail), True
