"""What is known while one kernel is being built: values of variables, flags, the op being filled."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from xdsl.dialects.builtin import i1
from xdsl.ir import Attribute, Operation, SSAValue

from phobos_nb.ir.builder import Builder
from phobos_nb.ir.dialects.tile import KernelOp
from phobos_nb.ir.locations import location
from phobos_nb.ir.scalars import value_type
from phobos_nb.language.registry import Builtins
from phobos_nb.language.typed import Break, Return, SharedArray, Statement, TypedKernel, Variable
from phobos_nb.language.types import TileType, Uniformity, ValueType, VoidType
from phobos_nb.lower.build_tile_ir.control import assigned, escapes
from phobos_nb.source import Span


@dataclass(eq=False)
class Hidden:
    """A variable of the builder's own, such as the position of a loop that counts by hand."""

    name: str
    type: Attribute


class Flag(Hidden):
    """A hidden i1 variable. `divergent`: it was cleared where threads may differ."""

    def __init__(self, name: str) -> None:
        super().__init__(name, i1)
        self.divergent = False


Key = Variable | Hidden


@dataclass(eq=False)
class Scope:
    """A loop, or the kernel itself, as its breaks, continues and returns see it.

    live: whether the thread goes on in the present iteration. going: whether it goes on looping, in
    loops that can be left early.
    """

    live: Flag
    going: Flag | None = None

    @property
    def flags(self) -> tuple[Flag, ...]:
        """The flags it has."""
        return (self.live,) if self.going is None else (self.live, self.going)


@dataclass
class State:
    """The kernel being built. `values` maps variables and flags to their present SSA values."""

    kernel: TypedKernel
    builtins: Builtins
    op: KernelOp
    builder: Builder
    shared: dict[SharedArray, SSAValue]
    scopes: list[Scope]
    values: dict[Key, SSAValue] = field(default_factory=dict[Key, SSAValue])
    contexts: dict[tuple[str, int], SSAValue] = field(default_factory=dict[tuple[str, int], SSAValue])
    divergent: bool = False
    prepared: dict[int, SSAValue] = field(default_factory=dict[int, SSAValue])
    """Values of expressions, by identity, that have been built before they are met."""

    def tensor(self, name: str) -> SSAValue:
        """The kernel's argument for a tensor parameter."""
        position = next(k for k, t in enumerate(self.kernel.tensor_parameters) if t.name == name)
        return self.op.tensor_arguments[position]

    @contextmanager
    def at(self, span: Span) -> Generator[None]:
        """Build with the location of a span."""
        with self.builder.located(location(self.kernel.source, span)):
            yield

    @contextmanager
    def under(self, uniformity: Uniformity) -> Generator[None]:
        """Build under control flow that depends on a value of that uniformity."""
        kept = self.divergent
        self.divergent = kept or uniformity is not Uniformity.CTA
        try:
            yield
        finally:
            self.divergent = kept

    @contextmanager
    def preparing(self) -> Generator[None]:
        """Keep `prepared` values until the end of a statement."""
        try:
            yield
        finally:
            self.prepared.clear()

    @contextmanager
    def scope(self, scope: Scope) -> Generator[None]:
        """Build the body of a loop."""
        self.scopes.append(scope)
        try:
            yield
        finally:
            self.scopes.pop()

    def changed(self, *blocks: Sequence[Statement]) -> tuple[Key, ...]:
        """The variables and flags with a present value that the statements may set."""
        keys: dict[Key, None] = {}
        for statements in blocks:
            keys |= dict.fromkeys(assigned(statements))
            keys |= dict.fromkeys(self._flags_cleared(statements))
        return tuple(k for k in keys if k in self.values)

    def _flags_cleared(self, statements: Sequence[Statement]) -> tuple[Flag, ...]:
        found = escapes(statements)
        if Return in found:
            return tuple(flag for scope in self.scopes for flag in scope.flags)
        inner = self.scopes[-1]
        return inner.flags if Break in found else (inner.live,) if found else ()

    def bind(self, keys: Sequence[Key], values: Sequence[SSAValue]) -> None:
        """Set variables and flags to new present values."""
        for key, value in zip(keys, values, strict=True):
            self.values[key] = hint(value, key.name)

    def clear(self, flags: Sequence[Flag]) -> None:
        """Set flags to false at this point of the program."""
        for flag in flags:
            flag.divergent |= self.divergent
            self.values[flag] = self.builder.false()


def key_type(key: Key) -> Attribute:
    """The MLIR type of a variable, visible or hidden."""
    return key.type if isinstance(key, Hidden) else mlir_value_type(key.type)


def mlir_value_type(type_: ValueType) -> Attribute:
    """The MLIR type of a scalar or tile."""
    if isinstance(type_, VoidType):
        raise TypeError("a call without a result has no value")
    return value_type(type_.dtype, type_.shape if isinstance(type_, TileType) else ())


def hint(value: SSAValue, name: str) -> SSAValue:
    """Name a computed value after the variable that holds it; constants are shared and stay unnamed."""
    if isinstance(value.owner, Operation) and value.owner.name == "arith.constant":
        return value
    return Builder.named(value, name)
