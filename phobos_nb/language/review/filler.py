"""Follows the filler of partial tiles (zero, or `pad`'s value) to where it would change a result.

Every tile has, per axis counted from the right, the filler it may hold there: a number, or none that
is known. Reductions along an axis whose filler is not their identity warn (PH210).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from phobos_nb.diagnostics import Diagnostics
from phobos_nb.language.definitions import definitions_of
from phobos_nb.language.dots import DOTS
from phobos_nb.language.linear import Definitions
from phobos_nb.language.review.elementwise import UNKNOWN, Value, at_filler
from phobos_nb.language.review.partial import may_be_partial
from phobos_nb.language.typed import (
    Assign,
    Call,
    Constant,
    Expr,
    Fill,
    For,
    If,
    Slice,
    Statement,
    TileRead,
    TypedKernel,
    Variable,
    VariableRead,
    While,
)
from phobos_nb.language.types import TileType
from phobos_nb.language.walk import blocks, children
from phobos_nb.source import Span

INF = math.inf
REDUCTIONS: Mapping[str, tuple[int, float]] = {
    "rowsum": (-1, 0.0),
    "rowmax": (-1, -INF),
    "rowmin": (-1, INF),
    "rowargmax": (-1, -INF),
    "colsum": (-2, 0.0),
    "colmax": (-2, -INF),
    "colmin": (-2, INF),
    "cumsum": (-2, 0.0),
}
"""Built-in -> the axis it runs along and the value that does not change its result."""


@dataclass(frozen=True)
class Filler:
    """What lies outside `dim` of `tensor` along one axis of a tile: a number, or UNKNOWN."""

    value: Value
    dim: str
    tensor: str


@dataclass(frozen=True)
class State:
    """Filler by axis (-1 is the last); `positional`: computed from `iota`, so fit to mask by hand."""

    fillers: Mapping[int, Filler] = field(default_factory=dict[int, Filler])
    positional: bool = False


Environment = dict[Variable, State]


def review_filler(kernel: TypedKernel, diagnostics: Diagnostics) -> None:
    """Warn where filler reaches an operation that it changes."""
    review = _Review(kernel, definitions_of(kernel.body), {})
    review.block(kernel.body, {})
    for span, (message, help) in sorted(review.found.items()):
        diagnostics.warn("PH210", message, span, help=help)


@dataclass
class _Review:
    kernel: TypedKernel
    definitions: Definitions
    found: dict[Span, tuple[str, str]]

    def block(self, body: tuple[Statement, ...], environment: Environment) -> Environment:
        for statement in body:
            environment = self.statement(statement, environment)
        return environment

    def statement(self, node: Statement, environment: Environment) -> Environment:
        for child in children(node):
            state = self.expression(child, environment)
            if isinstance(node, Assign) and child is node.value:
                environment = {**environment, node.variable: state}
        match node:
            case If():
                after = [self.block(body, environment) for body in blocks(node)]
                return _join(after[0], after[1])
            case For() | While():
                return self.loop(node.body, environment)
            case _:
                return environment

    def loop(self, body: tuple[Statement, ...], environment: Environment) -> Environment:
        """States only grow, through absent, known and unknown: this ends."""
        while True:
            after = _join(environment, self.block(body, environment))
            if after == environment:
                return after
            environment = after

    def expression(self, node: Expr, environment: Environment) -> State:
        if isinstance(node, VariableRead):
            return environment.get(node.variable, State())
        states = {id(child): self.expression(child, environment) for child in children(node)}
        if isinstance(node, TileRead):
            return self.read(node)
        if isinstance(node, Fill):
            return _stretched(node.operand, states[id(node.operand)], node)
        if isinstance(node, Call):
            return self.call(node, [(a, states[id(a)]) for a in node.arguments if isinstance(a, Expr)])
        return _elementwise(node, [(child, states[id(child)]) for child in children(node)])

    def read(self, node: TileRead) -> State:
        tensor, pad = node.region.tensor, node.pad
        value: Value = 0.0 if pad is None else UNKNOWN
        if isinstance(pad, Constant):
            value = float(pad.value)
        fillers: dict[int, Filler] = {}
        axis = -len(node.region.shape)
        for subscript, dim in zip(node.region.subscripts, tensor.type.dims, strict=True):
            if not isinstance(subscript, Slice):
                continue
            if may_be_partial(subscript, dim, self.kernel.promises, self.definitions):
                fillers[axis] = Filler(value, str(dim), tensor.name)
            axis += 1
        return State(fillers)

    def call(self, node: Call, arguments: list[tuple[Expr, State]]) -> State:
        name = node.builtin
        if name == "iota":
            return State(positional=True)
        if name in REDUCTIONS:
            return self.reduction(node, arguments[0][1])
        if name in DOTS:
            return self.dot(node, arguments[0][1], arguments[1][1])
        if name == "transpose":
            return _swapped(arguments[0][1])
        if name == "flat":
            return _merged(arguments[0][1])
        if name == "gather" or not isinstance(node.type, TileType):
            return State()
        return _elementwise(node, arguments)

    def reduction(self, node: Call, state: State) -> State:
        axis, identity = REDUCTIONS[node.builtin]
        filler = state.fillers.get(axis)
        if filler is not None and filler.value != identity:
            self.warn(node, filler, identity)
        kept = {a: replace(f, value=0.0 if f.value == 0 else UNKNOWN) for a, f in state.fillers.items()}
        if node.builtin == "cumsum":
            return State(kept, state.positional)
        return State({a: f for a, f in kept.items() if a != axis})

    def dot(self, node: Call, left: State, right: State) -> State:
        depth, column = (-2, -1) if node.builtin == "dot" else (-1, -2)
        summed = [s.fillers[a] for s, a in ((left, -1), (right, depth)) if a in s.fillers]
        if summed and all(f.value != 0 for f in summed):
            self.warn(node, summed[0], 0.0)
        fillers: dict[int, Filler] = {}
        for target, state, source in ((-2, left, -2), (-1, right, column)):
            if source in state.fillers:
                filler = state.fillers[source]
                fillers[target] = replace(filler, value=0.0 if filler.value == 0 else UNKNOWN)
        return State(fillers)

    def warn(self, node: Call, filler: Filler, identity: float) -> None:
        what = "filler" if filler.value is UNKNOWN else f"the filler {filler.value:g}"
        message = (
            f"{what} past the end of `{filler.dim}` (from `{filler.tensor}`) reaches "
            f"`{node.builtin}` and changes its result"
        )
        value = {0.0: "a value that becomes 0", INF: "inf", -INF: "-inf"}[identity]
        help = f"read with `pad({filler.tensor}[...], value)` so that {value} arrives here"
        if identity != 0:
            help = f"read with `pad({filler.tensor}[...], {value})`"
        self.found[node.span] = message, f"{help}, or choose with `where`"


def _join(left: Environment, right: Environment) -> Environment:
    out = dict(left)
    for variable, state in right.items():
        out[variable] = _join_states(out[variable], state) if variable in out else state
    return out


def _join_states(left: State, right: State) -> State:
    fillers = dict(left.fillers)
    for axis, filler in right.fillers.items():
        present = fillers.get(axis)
        if present is None:
            fillers[axis] = filler
        elif present.value != filler.value:
            fillers[axis] = replace(present, value=UNKNOWN)
    return State(fillers, left.positional or right.positional)


def _extent(node: Expr, axis: int) -> int:
    shape = node.type.shape if isinstance(node.type, TileType) else ()
    return shape[axis] if len(shape) >= -axis else 1


def _elementwise(node: Expr, arguments: list[tuple[Expr, State]]) -> State:
    positional = any(state.positional for _, state in arguments)
    axes = {axis for _, state in arguments for axis in state.fillers}
    fillers: dict[int, Filler] = {}
    for axis in axes:
        met = [s.fillers[axis] for e, s in arguments if axis in s.fillers and _extent(e, axis) > 1]
        if not met and _extent(node, axis) > 1:
            continue
        met = met or [s.fillers[axis] for _, s in arguments if axis in s.fillers]
        values = [s.fillers[axis].value if axis in s.fillers else _real(e) for e, s in arguments]
        masks = bool(arguments) and arguments[0][1].positional
        fillers[axis] = replace(met[0], value=at_filler(node, values, masks))
    return State(fillers, positional)


def _real(node: Expr) -> Value:
    """An operand that is not filler here: its value if it is a constant, else any number."""
    if isinstance(node, Fill):
        node = node.operand
    return float(node.value) if isinstance(node, Constant) else None


def _stretched(operand: Expr, state: State, node: Fill) -> State:
    kept = {a: f for a, f in state.fillers.items() if _extent(operand, a) == _extent(node, a)}
    return State(kept, state.positional)


def _swapped(state: State) -> State:
    return State({-3 - a: f for a, f in state.fillers.items() if a in (-1, -2)}, state.positional)


def _merged(state: State) -> State:
    found = list(state.fillers.values())
    if not found:
        return State(positional=state.positional)
    same = all(f.value == found[0].value for f in found)
    return State({-1: found[0] if same else replace(found[0], value=UNKNOWN)}, state.positional)
