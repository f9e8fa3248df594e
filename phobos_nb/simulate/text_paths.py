"""Where a place of the text stands: in which blocks of which branches and loops; barriers put there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from phobos_nb.language.tree import (
    Block,
    CallExpression,
    CallStatement,
    ForStatement,
    FunctionNode,
    IfStatement,
    KernelNode,
    Name,
    Node,
    Program,
    StatementNode,
    WhileStatement,
)

LOOPS = (ForStatement, WhileStatement)
BARRIER = CallStatement(CallExpression(Name("barrier"), ()))


@dataclass(frozen=True)
class Step:
    """A statement of a block, and by which of its own blocks ("" for none) the way goes on."""

    block: Block
    index: int
    branch: str = ""

    @property
    def node(self) -> StatementNode:
        """The statement."""
        return self.block[self.index]


@dataclass(frozen=True)
class TextPath:
    """The way from a kernel's or function's body to a statement, outermost first."""

    within: KernelNode | FunctionNode
    steps: tuple[Step, ...]

    @property
    def node(self) -> StatementNode:
        """The statement."""
        return self.steps[-1].node

    def loop(self, depth: int) -> int | None:
        """The depth of the innermost loop around the statements of a depth."""
        found = [d for d in range(depth) if isinstance(self.steps[d].node, LOOPS)]
        return found[-1] if found else None


def path_to(program: Program, line: int, column: int) -> TextPath | None:
    """The statement at a line and column as the reader numbers them; None where there is none."""
    source = program.source
    if not 0 <= line - source.first_line < len(source.starts):
        return None
    offset = source.offset(line, column)
    for within in (*program.kernels, *program.functions):
        steps = tuple(_steps(within.body, offset))
        if steps:
            return TextPath(within, steps)
    return None


def blocks_of(node: StatementNode) -> Iterator[tuple[str, Block]]:
    """The blocks of a branch or loop, by the names of their fields."""
    for name in ("then", "otherwise", "body"):
        block = getattr(node, name, None)
        if block is not None:
            yield name, block


def _steps(block: Block, offset: int) -> Iterator[Step]:
    """The way to an offset; of branches and loops the span is the header alone."""
    for index, node in enumerate(block):
        if node.span.start <= offset < node.span.stop:
            yield Step(block, index)
            return
        for branch, inner in blocks_of(node):
            rest = list(_steps(inner, offset))
            if rest:
                yield Step(block, index, branch)
                yield from rest
                return


def common_depth(one: TextPath, other: TextPath) -> int:
    """How many steps two paths of one body share, the branch included."""
    shared = 0
    for a, b in zip(one.steps, other.steps, strict=False):
        if (a.index, a.branch) != (b.index, b.branch) or not a.branch:
            break
        shared += 1
    return shared


def has_barrier(block: Sequence[StatementNode]) -> bool:
    """Whether a statement of these is a barrier of the CTA."""
    return any(isinstance(s, CallStatement) and s.call == BARRIER.call for s in block)


def with_block(program: Program, path: TextPath, depth: int, block: Block) -> Program:
    """The program with another block in place of the one that holds the statement at a depth."""
    for step in reversed(path.steps[:depth]):
        node = replace(cast(Any, step.node), **{step.branch: block})
        block = (*step.block[: step.index], node, *step.block[step.index + 1 :])
    changed = replace(path.within, body=block)
    kernels = tuple(changed if k is path.within else k for k in program.kernels)
    functions = tuple(changed if f is path.within else f for f in program.functions)
    return replace(program, kernels=cast(Any, kernels), functions=cast(Any, functions))


def with_barrier(program: Program, path: TextPath, depth: int, index: int) -> Program:
    """The program with a barrier in the block of a depth, before its statement `index`."""
    block = path.steps[depth].block
    return with_block(program, path, depth, (*block[:index], BARRIER, *block[index:]))


def line_of(program: Program, node: StatementNode) -> int:
    """The line on which a statement begins."""
    return program.source.position(node.span.start).line


def named(program: Program, node: StatementNode) -> str:
    """A statement as a person points at it: `line 6`, or `the `if` in line 6`."""
    words: dict[type[Node], str] = {IfStatement: "if", ForStatement: "for", WhileStatement: "while"}
    word, line = words.get(type(node)), line_of(program, node)
    return f"line {line}" if word is None else f"the `{word}` in line {line}"
