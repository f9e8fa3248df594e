"""The state of printing one kernel: lines, names, values and the helpers used so far.

Note [In place]
An operation that changes a few elements of a vector (`insert`, `outerproduct`) may overwrite its
operand's variable when nobody else will read it: the variable belongs to that value alone (`owned`),
the value has one use, and the use is in the block that defines the value, so that it runs once for
each time the value is made.
"""

from __future__ import annotations

import typing
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import prod

from xdsl.dialects.builtin import IndexType, MemRefType
from xdsl.ir import Attribute, Block, Operation, SSAValue

from phobos_nb.cuda.emit.names import Names
from phobos_nb.cuda.emit.source import Line, Place
from phobos_nb.cuda.emit.spelling import scalar
from phobos_nb.cuda.emit.table import ROWS
from phobos_nb.cuda.emit.wmma_registers import fragment_type
from phobos_nb.cuda.ranges import Ranges
from phobos_nb.cuda.reading import element_type, is_memref, is_vector, origin, shape, static_strides
from phobos_nb.ir.dialects.subgroup_mma import MatrixType
from phobos_nb.target import Target

UNROLLED_IN_LINE = 8
"""Vectors up to this length are written out element by element, longer ones as an unrolled loop."""

Stride = int | str

Compute = Callable[[str], str] | Callable[[str, str], str] | Callable[[str, str, str], str]
"""From the expressions of an operation's operands to that of its result."""


@dataclass(frozen=True)
class Memory:
    """How a memref is addressed: element strides, each a number or a C++ expression."""

    strides: tuple[Stride, ...]


@dataclass(frozen=True)
class Spelled:
    """An SSA value in C++: a name or literal and its type.

    `elements` are those of a vector that has no variable, one if all are equal; `memory` is a memref's;
    `count` is the number of set elements of a mask that is a prefix, as an expression.
    """

    text: str
    ctype: str
    elements: tuple[str, ...] = ()
    memory: Memory | None = None
    count: str = ""


class Emitter:
    """Prints operations one by one; rows in the other files call its methods."""

    def __init__(self, target: Target, ranges: Ranges, written: frozenset[SSAValue]) -> None:
        self.target = target
        self.ranges = ranges
        self.written = written
        self.names = Names()
        self.lines: list[Line] = []
        self.values: dict[SSAValue, Spelled] = {}
        self.owned: set[SSAValue] = set()
        self.helpers: dict[str, None] = {}
        self.buffers: dict[str, tuple[str, int]] = {}
        self.barriers: dict[str, int] = {}
        self.dynamic = ""
        self.shared_alignment = 128
        self.predicate = ""
        self.outputs: dict[Operation, int] = {}
        self.output_words = 0
        self.depth = 1
        self.place: Place | None = None

    # -- operations ---------------------------------------------------------------------------

    def block(self, block: Block) -> None:
        """Print every operation of a block, the terminator left to whoever owns the block."""
        for op in block.ops:
            if op is not block.last_op or op.name not in TERMINATORS:
                self.operation(op)

    def operation(self, op: Operation) -> None:
        """Print one operation by its row."""
        function = ROWS.get(op.name)
        if function is None:
            raise NotImplementedError(f"no CUDA row for the operation {op.name}")
        self.place = place_of(op) or self.place
        function(self, op)

    # -- lines --------------------------------------------------------------------------------

    def line(self, text: str) -> None:
        """Add one line at the present depth."""
        self.lines.append(Line("  " * self.depth + text, self.place))

    @contextmanager
    def braces(self, head: str, tail: str = "}") -> Generator[None]:
        """Print `head {`, then what is printed inside, then the tail."""
        self.line(f"{head} {{" if head else "{")
        self.depth += 1
        yield
        self.depth -= 1
        self.line(tail)

    def call(self, helper: str, *arguments: str, template: str = "") -> str:
        """A call of a helper in namespace `ph`, which is then printed above the kernel."""
        self.helpers[helper] = None
        name = helper.split(".")[0]
        return f"ph::{name}{template}({', '.join(arguments)})"

    def buffer(self, symbol: str, size: int) -> str:
        """The name of a static shared buffer of `size` bytes, declared at the kernel's start."""
        if symbol not in self.buffers:
            self.buffers[symbol] = (self.names.fresh(symbol), size)
        return self.buffers[symbol][0]

    def barriers_named(self, hint: str, number: int) -> str:
        """The name of a new array of memory barriers."""
        name = self.names.fresh(hint)
        self.barriers[name] = number
        return name

    def dynamic_buffer(self) -> str:
        """The name of the shared memory whose size is given at launch."""
        self.dynamic = self.dynamic or self.names.fresh("smem")
        return self.dynamic

    def output_place(self, op: Operation) -> tuple[int, int]:
        """Words per record of the output buffer, and the number of a place that writes one."""
        return self.output_words, self.outputs[op]

    # -- types --------------------------------------------------------------------------------

    def scalar_type(self, value: SSAValue) -> str:
        """The C++ type of a value or of the elements it holds; an index as narrow as proven."""
        return self.element_ctype(value.type, value)

    def element_ctype(self, type: Attribute, value: SSAValue | None = None) -> str:
        """The C++ type of the elements of an MLIR type; memory holds an index at its full width."""
        element = element_type(type)
        if not isinstance(element, IndexType):
            return scalar(element)
        if isinstance(type, MemRefType) or value is None:
            return "int" if self.ranges.index_bits == 32 else "long long"
        return "int" if self.ranges.narrow(value) else "long long"

    def ctype(self, value: SSAValue) -> str:
        """The C++ type of a variable that holds the value."""
        if isinstance(value.type, MatrixType):
            self.helpers["fragment"] = None
            return fragment_type(value.type)
        element = self.scalar_type(value)
        if is_memref(value):
            return f"{element}*" if value in self.written else f"const {element}*"
        if is_vector(value):
            return f"vec<{element}, {count(value)}>"
        return element

    # -- values -------------------------------------------------------------------------------

    def spelled(self, value: SSAValue) -> Spelled:
        """What was recorded for a value."""
        return self.values[value]

    def text(self, value: SSAValue, ctype: str | None = None) -> str:
        """The value as an expression; with a type, converted to it where it has another."""
        found = self.values[value]
        return found.text if ctype in (None, found.ctype) else cast(found.text, found.ctype, ctype)

    def element(self, value: SSAValue, index: int | str, ctype: str | None = None) -> str:
        """One element of a vector (a scalar stands for all of its elements) as an expression."""
        found = self.values[value]
        own = self.scalar_type(value) if is_vector(value) else found.ctype
        if not is_vector(value):
            text = found.text
        elif found.elements and (len(found.elements) == 1 or isinstance(index, int)):
            text = found.elements[0] if len(found.elements) == 1 else found.elements[int(index)]
        else:
            text = f"{self.named(value)}.e[{index}]"
        return text if ctype in (None, own) else cast(text, own, ctype)

    def promoted(self, operands: Sequence[SSAValue], wide: str) -> tuple[str | None, ...]:
        """What to convert operands to so that C++ computes in `wide`: one of that type is enough."""
        own = [self._own(x) for x in operands]
        if wide in own:
            return (None,) * len(own)
        first = next((k for k, ctype in enumerate(own) if ctype), 0)
        return tuple(wide if k == first else None for k in range(len(own)))

    def _own(self, value: SSAValue) -> str:
        """The type an operand's expression has by itself; empty for a literal."""
        found = self.values[value]
        if is_vector(value):
            return "" if found.elements else self.scalar_type(value)
        return "" if found.text.lstrip("-").isdigit() else found.ctype

    def named(self, value: SSAValue) -> str:
        """The name of a variable that holds the value; a constant gets one here."""
        found = self.values[value]
        if not found.elements:
            return found.text
        name = self.names.fresh(value.name_hint)
        self.line(f"const {found.ctype} {name} = {found.text};")
        return name

    def bind(self, value: SSAValue, spelled: Spelled, *, owned: bool = False) -> None:
        """Record how a value is spelled."""
        self.values[value] = spelled
        if owned:
            self.owned.add(value)

    def declare(self, value: SSAValue, initial: str | None = None) -> str:
        """A mutable variable for a value: a loop's carried value, a branch's result."""
        name = self.names.fresh(value.name_hint)
        start = "" if initial is None else f" = {initial}"
        self.line(f"{self.ctype(value)} {name}{start};")
        self.bind(value, Spelled(name, self.ctype(value), memory=static_memory(value)), owned=True)
        return name

    def define(self, value: SSAValue, expression: str, memory: Memory | None = None) -> None:
        """A variable for a value that is computed once."""
        ctype = self.ctype(value)
        name = self.names.fresh(value.name_hint)
        if is_vector(value):
            self.line(f"{ctype} {name} = {expression};")
        elif is_memref(value):
            self.line(f"{ctype} const {name} = {expression};")
        else:
            self.line(f"const {ctype} {name} = {expression};")
        self.bind(value, Spelled(name, ctype, memory=memory), owned=is_vector(value))

    def define_elements(self, value: SSAValue, expressions: Sequence[str]) -> None:
        """A vector by its elements; a vector of one is held as a plain scalar."""
        if len(expressions) > 1:
            self.define(value, f"{{{', '.join(expressions)}}}")
            return
        name = self.names.fresh(value.name_hint)
        self.line(f"const {self.scalar_type(value)} {name} = {expressions[0]};")
        self.bind_elements(value, (name,))

    def bind_elements(self, value: SSAValue, elements: tuple[str, ...]) -> None:
        """A vector that is put together where it is used, from names or literals."""
        ctype = self.ctype(value)
        self.bind(value, Spelled(f"{ctype}{{{', '.join(elements)}}}", ctype, elements=elements))

    def alias(self, result: SSAValue, source: SSAValue) -> None:
        """The result is the source under another type of the same layout in registers."""
        owned = source in self.owned and self._only_use(source, result)
        self.bind(result, self.values[source], owned=owned)

    def take(self, result: SSAValue, source: SSAValue) -> str:
        """A variable that starts as `source` and becomes `result`, see Note [In place]."""
        if source in self.owned and self._only_use(source, result):
            name = self.values[source].text
        else:
            name = self.names.fresh(result.name_hint)
            self.line(f"{self.ctype(result)} {name} = {self.text(source)};")
        self.bind(result, Spelled(name, self.ctype(result)), owned=True)
        return name

    @staticmethod
    def _only_use(source: SSAValue, result: SSAValue) -> bool:
        user = result.owner
        home = source.owner.parent if isinstance(source.owner, Operation) else source.owner
        return isinstance(user, Operation) and user.parent is home and source.has_one_use()

    # -- elementwise --------------------------------------------------------------------------

    def elementwise(
        self,
        result: SSAValue,
        operands: Sequence[SSAValue],
        compute: Compute,
        types: Sequence[str | None] = (),
    ) -> None:
        """Define a scalar or a vector by one expression per element.

        compute: from the operands' element expressions to the result's. types: what to convert the
        operands' elements to first.
        """
        expression = typing.cast("Callable[..., str]", compute)
        wanted = [*types, *[None] * (len(operands) - len(types))]
        pairs = list(zip(operands, wanted, strict=True))
        if not is_vector(result):
            self.define(result, expression(*(self.text(x, t) for x, t in pairs)))
            return
        size = count(result)
        if size <= UNROLLED_IN_LINE:
            rows = [expression(*(self.element(x, i, t) for x, t in pairs)) for i in range(size)]
            self.define_elements(result, rows)
            return
        for x in operands:
            if len(self.values[x].elements) > 1:
                self.bind(x, Spelled(self.named(x), self.values[x].ctype))
        name = self.names.fresh(result.name_hint)
        self.line(f"{self.ctype(result)} {name};")
        self.line("#pragma unroll")
        step = expression(*(self.element(x, "_i", t) for x, t in pairs))
        self.line(f"for (int _i = 0; _i < {size}; ++_i) {name}.e[_i] = {step};")
        self.bind(result, Spelled(name, self.ctype(result)), owned=True)


TERMINATORS = frozenset({"scf.yield", "scf.condition", "gpu.return"})
"""Operations that end a block and are printed by the operation that owns the block."""


def count(value: SSAValue) -> int:
    """The number of elements of a vector, all axes together."""
    return prod(shape(value.type))


def cast(text: str, source: str, target: str) -> str:
    """A conversion between integer types; literals convert themselves."""
    if text.lstrip("-").isdigit() and {source, target} <= {"int", "long long"}:
        return text
    return f"({target}){text}" if text.isidentifier() else f"({target})({text})"


def static_memory(value: SSAValue) -> Memory | None:
    """The strides that a memref's type alone tells; None for other types."""
    if not is_memref(value):
        return None
    strides = static_strides(value.type)
    known = tuple(s for s in strides if s is not None)
    if len(known) != len(strides):
        raise NotImplementedError(f"a memref in control flow needs static strides: {value.type}")
    return Memory(known)


def place_of(op: Operation) -> Place | None:
    """The line of kernel text that an operation's location names."""
    found = origin(op.location)
    return None if found is None else Place(found.filename.data, found.line.data)
