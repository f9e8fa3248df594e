"""Typed statements to structured control flow in SSA form.

A variable that is set inside a branch or loop and declared outside becomes its result. `break`,
`continue` and `return` clear flags; what follows them in a block runs under its scope's `live` flag.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xdsl.ir import SSAValue

from phobos_nb.dtypes import I32, Kind
from phobos_nb.ir import elementwise
from phobos_nb.ir.convert import convert
from phobos_nb.ir.dialects import tile
from phobos_nb.language.typed import (
    Assert,
    Assign,
    Break,
    Continue,
    Evaluate,
    Expr,
    For,
    If,
    Print,
    Return,
    Statement,
    StoreElement,
    StoreTile,
    Tensor,
    While,
)
from phobos_nb.language.types import TileType, Uniformity
from phobos_nb.lower.build_tile_ir import loops
from phobos_nb.lower.build_tile_ir.branches import branch
from phobos_nb.lower.build_tile_ir.control import escapes_of, loop_uniformity
from phobos_nb.lower.build_tile_ir.expressions import Expressions, dtype_of
from phobos_nb.lower.build_tile_ir.state import State, hint
from phobos_nb.lower.build_tile_ir.uniform import (
    all_uniform,
    reads_itself,
    shared_operands,
    stores_once,
)


@dataclass(frozen=True)
class Statements:
    """Builds statements at the state's insertion point."""

    state: State

    @property
    def expressions(self) -> Expressions:
        """The builder of their expressions."""
        return Expressions(self.state)

    def block(self, statements: Sequence[Statement]) -> None:
        """Statements in order; after one that may leave the block, the rest under the live flag."""
        for position, statement in enumerate(statements):
            with self.state.at(statement.span):
                _BUILDERS[type(statement)](self, statement)
            if isinstance(statement, Break | Continue | Return):
                return
            if escapes_of(statement):
                self._while_live(statements[position + 1 :])
                return

    def _while_live(self, rest: Sequence[Statement]) -> None:
        flag = self.state.scopes[-1].live
        if not rest:
            return
        with self.state.under(Uniformity.LANE if flag.divergent else Uniformity.CTA):
            branch(self.state, self.state.values[flag], rest, (), self.block)

    # Simple statements ---------------------------------------------------------------------------

    def assign(self, statement: Assign) -> None:
        """Declare or set a variable."""
        variable = statement.variable
        shape = variable.type.shape if isinstance(variable.type, TileType) else ()
        value = self.expressions.value(statement.value)
        value = elementwise.stretch(self.state.builder, value, shape)
        self.state.values[variable] = hint(value, variable.name)

    def store_tile(self, statement: StoreTile) -> None:
        """Store a tile, or a scalar to every element; the right side is read first."""
        region = statement.region
        value = self.expressions.converted(statement.value, region.tensor.type.dtype, region.shape)
        box = self.expressions.box(region)
        store = tile.StoreOp(
            value, box.tensor, box.indices, box.axes, stops=box.stops, stop_axes=box.stop_axes
        )
        self.state.builder.insert(box.marked(store))

    def store_element(self, statement: StoreElement) -> None:
        """Store one element per active thread, or once per CTA where all operands are uniform."""
        once = not self.state.divergent and stores_once(statement)
        if once and reads_itself(statement):
            self._update_once(statement)
        else:
            self._store_element(statement, once=once)

    def _update_once(self, statement: StoreElement) -> None:
        """One thread reads, computes and stores; what all share is computed by all before."""
        with self.state.preparing():
            for part in shared_operands(statement):
                self.state.prepared[id(part)] = self.expressions.value(part)
            first = self.expressions.is_first_thread(statement.span)
            op = self.state.builder.if_(first, [])
            with self.state.builder.inside(op.true_region.block):
                self._store_element(statement, once=False)
                self.state.builder.yield_([])

    def _store_element(self, statement: StoreElement, *, once: bool) -> None:
        base = statement.base
        value = self.expressions.converted(statement.value, base.type.dtype)
        indices = [self.expressions.index(i) for i in statement.indices]
        if isinstance(base, Tensor):
            op = tile.StoreElementOp(value, self.state.tensor(base.name), indices, once=once)
        else:
            op = tile.StoreSharedOp(value, self.state.shared[base], indices, once=once)
        self.state.builder.insert(op)

    def evaluate(self, statement: Evaluate) -> None:
        """A call for its effect."""
        self.expressions.effect(statement.value)

    def check(self, statement: Assert) -> None:
        """An assertion; whether the GPU checks it is decided later."""
        condition = self.expressions.value(statement.condition)
        once = self._once((statement.condition, *statement.arguments))
        arguments = self._printable(statement.arguments)
        self.state.builder.insert(tile.AssertOp(condition, statement.text, arguments, once=once))

    def print(self, statement: Print) -> None:
        """Formatted output."""
        arguments = self._printable(statement.arguments)
        once = self._once(statement.arguments)
        self.state.builder.insert(tile.PrintOp(statement.text, arguments, once=once))

    def _once(self, exprs: Sequence[Expr]) -> bool:
        return not self.state.divergent and all_uniform(exprs)

    def _printable(self, exprs: Sequence[Expr]) -> list[SSAValue]:
        """Arguments as printed: unsigned bytes widen here, where their signedness is known."""
        values: list[SSAValue] = []
        for expr in exprs:
            value, dtype = self.expressions.value(expr), dtype_of(expr)
            unsigned = dtype.kind is Kind.UNSIGNED
            values.append(convert(self.state.builder, value, dtype, I32) if unsigned else value)
        return values

    # Leaving -------------------------------------------------------------------------------------

    def leave_loop(self, statement: Break) -> None:  # noqa: ARG002
        """Stop this iteration and the loop."""
        self.state.clear(self.state.scopes[-1].flags)

    def leave_iteration(self, statement: Continue) -> None:  # noqa: ARG002
        """Stop this iteration."""
        self.state.clear([self.state.scopes[-1].live])

    def leave_kernel(self, statement: Return) -> None:  # noqa: ARG002
        """Stop everything around."""
        self.state.clear([flag for scope in self.state.scopes for flag in scope.flags])

    # Control flow --------------------------------------------------------------------------------

    def choose(self, statement: If) -> None:
        """A branch on a scalar bool."""
        condition = self.expressions.value(statement.condition)
        with self.state.under(statement.condition.uniformity):
            branch(self.state, condition, statement.then, statement.otherwise, self.block)

    def loop(self, statement: For) -> None:
        """A counted loop."""
        with self.state.under(loop_uniformity(statement)):
            loops.counted_loop(self.state, statement, self.block)

    def repeat(self, statement: While) -> None:
        """A `while`."""
        with self.state.under(loop_uniformity(statement)):
            loops.while_loop(self.state, statement, self.block)


_BUILDERS: dict[type[Statement], Callable[..., None]] = {
    Assign: Statements.assign,
    StoreTile: Statements.store_tile,
    StoreElement: Statements.store_element,
    Evaluate: Statements.evaluate,
    Assert: Statements.check,
    Print: Statements.print,
    Break: Statements.leave_loop,
    Continue: Statements.leave_iteration,
    Return: Statements.leave_kernel,
    If: Statements.choose,
    For: Statements.loop,
    While: Statements.repeat,
}
