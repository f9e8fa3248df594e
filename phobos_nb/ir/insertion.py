"""Where operations go while IR is built: insertion points, locations, unique constants, regions."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Self, TypeVar

from xdsl.dialects import scf
from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import IndexType, LocationAttr, UnknownLoc, i1
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.traits import IsolatedFromAbove

from phobos_nb.ir import fold
from phobos_nb.ir.fold import Number

OpT = TypeVar("OpT", bound=Operation)

INDEX = IndexType()


def entry_block(op: Operation) -> Block:
    """The entry block of the kernel around an op: where its constants stand."""
    found: Operation | None = op
    while found is not None and not found.has_trait(IsolatedFromAbove):
        found = found.parent_op()
    if found is None or not found.regions:
        raise ValueError(f"{op.name} is not inside a kernel")
    return found.regions[0].blocks[0]


class Inserter:
    """Makes operations at an insertion point, each with the current `location`.

    home: the entry block of the kernel, for constants. point: where the next op goes.
    """

    def __init__(self, home: Block, point: InsertPoint | None = None) -> None:
        self.home = home
        self.point = InsertPoint.at_end(home) if point is None else point
        self.location: LocationAttr | None = None
        self._constants: dict[tuple[Attribute, object], ConstantOp] = {}
        self._last_constant: Operation | None = None
        self._adopt_constants()

    @classmethod
    def before(cls, op: Operation) -> Self:
        """A builder in front of an op of a kernel, with that op's location."""
        builder = cls(entry_block(op), InsertPoint.before(op))
        builder.location = op.location
        return builder

    @classmethod
    def after(cls, op: Operation) -> Self:
        """A builder behind an op of a kernel, with that op's location."""
        builder = cls(entry_block(op), InsertPoint.after(op))
        builder.location = op.location
        return builder

    def _adopt_constants(self) -> None:
        for op in self.home.ops:
            if not isinstance(op, ConstantOp):
                break
            self._constants[op.result.type, _key(op)] = op
            self._last_constant = op

    # Insertion -----------------------------------------------------------------------------------

    def insert(self, op: OpT) -> OpT:
        """Insert an op at the point, with the current location unless it has one."""
        if self.location is not None and isinstance(op.location, UnknownLoc):
            op.location = self.location
        Rewriter.insert_op(op, self.point)
        return op

    def value(self, op: Operation) -> SSAValue:
        """Insert an op with one result and return the result."""
        return self.insert(op).results[0]

    @contextmanager
    def at(self, point: InsertPoint) -> Generator[None]:
        """Build at another point for a while."""
        kept, self.point = self.point, point
        try:
            yield
        finally:
            self.point = kept

    @contextmanager
    def inside(self, block: Block) -> Generator[None]:
        """Build at the end of a block for a while."""
        with self.at(InsertPoint.at_end(block)):
            yield

    @contextmanager
    def located(self, location: LocationAttr) -> Generator[None]:
        """Build with another location for a while."""
        kept, self.location = self.location, location
        try:
            yield
        finally:
            self.location = kept

    @staticmethod
    def named(value: SSAValue, name: str) -> SSAValue:
        """Give a value a readable name in printed IR and generated code, unless it has one."""
        if value.name_hint is None and SSAValue.is_valid_name(name):
            value.name_hint = name
        return value

    # Constants -----------------------------------------------------------------------------------

    def constant(self, value: Number, type_: Attribute) -> SSAValue:
        """A constant of a scalar, vector or tensor type, every element being `value`."""
        op = fold.constant_attribute(value, type_)
        key = (type_, _key(op))
        known = self._constants.get(key)
        if known is not None and known.parent is not None:
            return known.result
        self._insert_constant(op)
        self._constants[key] = op
        return op.result

    def _insert_constant(self, op: ConstantOp) -> None:
        last = self._last_constant
        if last is not None and last.parent is self.home:
            self.home.insert_ops_after([op], last)
        elif self.home.first_op is not None:
            self.home.insert_ops_before([op], self.home.first_op)
        else:
            self.home.add_op(op)
        self._last_constant = op

    def drop_unused_constants(self) -> None:
        """Erase the constants that folding left without a use."""
        unused = [key for key, op in self._constants.items() if not op.result.uses.get_length()]
        for key in unused:
            op = self._constants.pop(key)
            if op.parent is not None:
                op.detach()
                op.erase()

    def index(self, value: int) -> SSAValue:
        """A constant index."""
        return self.constant(value, INDEX)

    def true(self) -> SSAValue:
        """The constant i1 true."""
        return self.constant(True, i1)

    def false(self) -> SSAValue:
        """The constant i1 false."""
        return self.constant(False, i1)

    # Control -------------------------------------------------------------------------------------

    def for_(
        self, start: SSAValue, stop: SSAValue, step: SSAValue, inits: Sequence[SSAValue] = ()
    ) -> scf.ForOp:
        """Insert an `scf.for` with an empty body: build it with `inside`, and end it with `yield_`."""
        body = Block(arg_types=[start.type, *(v.type for v in inits)])
        op = scf.ForOp(start, stop, step, inits, Region(body))
        _drop_terminator(body)
        return self.insert(op)

    def if_(
        self, condition: SSAValue, results: Sequence[Attribute] = (), *, otherwise: bool = False
    ) -> scf.IfOp:
        """Insert an `scf.if` with empty regions: build each with `inside`, and end it with `yield_`."""
        second = Region(Block()) if otherwise or results else Region()
        op = scf.IfOp(condition, results, Region(Block()), second)
        for region in op.regions:
            for block in region.blocks:
                _drop_terminator(block)
        return self.insert(op)

    def while_(self, inits: Sequence[SSAValue]) -> scf.WhileOp:
        """Insert an `scf.while` whose two regions take and pass on values of the types of `inits`.

        Build the first with `inside` and end it with `condition`, the second with `yield_`.
        """
        types = [v.type for v in inits]
        regions = [Region(Block(arg_types=types)) for _ in range(2)]
        return self.insert(scf.WhileOp(inits, types, regions[0], regions[1]))

    def condition(self, value: SSAValue, passed: Sequence[SSAValue]) -> None:
        """End the first region of an `scf.while`: go on while `value`."""
        self.insert(scf.ConditionOp(value, *passed))

    def yield_(self, values: Sequence[SSAValue] = ()) -> None:
        """End the region being built."""
        self.insert(scf.YieldOp(*values))


def _key(op: ConstantOp) -> object:
    """What makes two constants of one type equal: the bits, so that -0.0 is not 0.0."""
    return str(op.value)


def _drop_terminator(block: Block) -> None:
    """Remove the empty yield that xDSL puts into a new region."""
    if block.last_op is not None:
        block.erase_op(block.last_op)
