"""What mends a race, by where its two accesses stand in the text: which branch, which loop, which block.

A barrier is told where the checker takes one. Between two accesses of one block it goes before the
later one; where the way from the one to the other goes round a loop, to the end of the loop's body;
between two branches of one `if`, or in an `if` that parts threads, it can go nowhere: that `if` is to be
ended first.
No barrier mends two threads that add to one element.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from phobos_nb.language.tree import FunctionNode, IfStatement, Program, StatementNode, WhileStatement
from phobos_nb.simulate.records import Race
from phobos_nb.simulate.text_paths import (
    LOOPS,
    TextPath,
    common_depth,
    has_barrier,
    line_of,
    named,
    path_to,
    with_barrier,
)
from phobos_nb.simulate.updates import together

LEFT = (
    "no barrier may follow where threads have left by `return`, `break` or `continue`: put what they "
    "leave out into an `if`"
)


@dataclass(frozen=True)
class RaceText:
    """The text that ran. takes: whether the checker takes a changed one.

    seeded: whether warps ran in random order, so that which access came first tells nothing.
    """

    program: Program
    takes: Callable[[Program], bool]
    seeded: bool = False

    def with_help(self, races: Sequence[Race]) -> list[Race]:
        """The races, each with what orders its accesses."""
        pairs = [_Pair.of(self, race) for race in races]
        return [
            race if pair is None else replace(race, remedy=pair.help(races))
            for race, pair in zip(races, pairs, strict=True)
        ]


@dataclass(frozen=True)
class _Pair:
    """The statements of a race, `early` before `late` in the text. depth: of the block of both."""

    text: RaceText
    race: Race
    early: TextPath
    late: TextPath
    straight: bool

    @classmethod
    def of(cls, text: RaceText, race: Race) -> _Pair | None:
        if race.remedy or " after " not in race.kind or not (race.first.line and race.second.line):
            return None
        places = (race.first, race.second)
        first, second = (path_to(text.program, p.line, p.column) for p in places)
        if first is None or second is None or first.within is not second.within:
            return None
        if isinstance(first.within, FunctionNode):
            return None  # who calls it may do so in a loop, and elsewhere too
        if first == second:
            return cls(text, race, first, second, race.kind != "read after write")
        straight = first.node.span.start < second.node.span.start
        early, late = (first, second) if straight else (second, first)
        return cls(text, race, early, late, straight)

    @property
    def depth(self) -> int:
        return common_depth(self.early, self.late)

    @property
    def _depth_of_statement(self) -> int:
        return len(self.early.steps) - 1

    @property
    def same(self) -> bool:
        return self.early == self.late

    def help(self, races: Sequence[Race]) -> str:
        """The sentence."""
        race = self.race
        alike = [_Pair.of(self.text, replace(r, remedy="")) for r in races if self._alike(r)]
        orders = {pair.straight for pair in alike if pair is not None}
        adds = together(self.text.program, self.early, self.late, race, self.text.takes)
        if race.first_cta != race.second_cta:
            return adds
        within, around = self._needed(orders)
        if adds and (within or race.tensor != "shared"):
            rounds = "where only other rounds of the loop have the same element"
            return f"{adds}; or, {rounds}, {self._around()}" if within and around else adds
        if self.same and race.kind == "write after write":
            return f"{race.usual_help}; of other rounds of the loop, {self._around()}" if around else ""
        told = [self._between()] if within else []
        if around:
            told.append(self._around(in_step=any("let all threads" in t for t in told)))
        return ", and ".join(told)

    def _alike(self, other: Race) -> bool:
        if self.same and "write after write" in (self.race.kind, other.kind):
            return self.race == other
        mine, its = ({r.first.line, r.second.line} for r in (self.race, other))
        return mine == its and (self.race.tensor, self.race.buffer) == (other.tensor, other.buffer)

    def _needed(self, orders: set[bool]) -> tuple[bool, bool]:
        """Whether a barrier is wanted on the way down the text, and on the way round the loop."""
        down, up = self._open_down(), self._open_up()
        if down and up and not self.text.seeded:
            return True in orders, False in orders
        return down, up

    def _open_down(self) -> bool:
        """Whether one round may run both without a barrier between."""
        if self.same:
            return True
        early, late, depth = self.early.steps, self.late.steps, self.depth
        if self._if_of_both is not None:
            return not self.text.takes(with_barrier(self.text.program, self.early, depth + 1, 0))
        ways = [s.block[s.index + 1 :] for s in early[depth + 1 :]]
        ways += [s.block[: s.index] for s in late[depth + 1 :]]
        ways.append(early[depth].block[early[depth].index + 1 : late[depth].index])
        return not any(has_barrier(way) for way in ways)

    def _open_up(self) -> bool:
        """Whether a loop's next round may run the early one with no barrier behind the late one."""
        loop = self._loop
        if loop is None:
            return False
        ways = [s.block[s.index + 1 :] for s in self.late.steps[loop + 1 :]]
        ways += [s.block[: s.index] for s in self.early.steps[loop + 1 :]]
        return not any(has_barrier(way) for way in ways)

    @property
    def _loop(self) -> int | None:
        """The depth of the innermost loop around both; a `while` is around its condition too."""
        depth = self.depth
        if self._header and isinstance(self.early.steps[depth].node, WhileStatement):
            return depth
        return self.early.loop(depth)

    @property
    def _header(self) -> bool:
        """Whether the early one stands in the condition or bounds of what the late one stands in."""
        return (
            not self.same
            and len(self.early.steps) == self.depth + 1 < len(self.late.steps)
            and (self.early.steps[self.depth].index == self.late.steps[self.depth].index)
        )

    @property
    def _if_of_both(self) -> IfStatement | None:
        """The `if` in whose different branches both stand."""
        one, other = self.early.steps[self.depth], self.late.steps[self.depth]
        node = one.node
        apart = one.index == other.index and one.branch and other.branch
        return node if apart and isinstance(node, IfStatement) else None

    def _between(self) -> str:
        program, depth = self.text.program, self.depth
        first, last = (named(program, p.steps[depth].node) for p in (self.early, self.late))
        if self.same:
            return self._within_statement()
        if self._if_of_both is not None:
            return self._branches(self._if_of_both)
        if self._header:
            return self._behind_header()
        if not self.text.takes(with_barrier(program, self.late, depth, self.late.steps[depth].index)):
            return self._parted(named(program, self.early.node), named(program, self.late.node))
        if first == last:
            return f"put a barrier between the statements of {first}"
        return f"put a barrier behind {first} and before {last}"

    def _within_statement(self) -> str:
        program, depth = self.text.program, self._depth_of_statement
        reads = f"line {line_of(program, self.early.node)} reads what others write there"
        if self.text.takes(with_barrier(program, self.early, depth, self.early.steps[depth].index)):
            return f"{reads}: read into a variable, put a barrier, then write"
        parted = self._parted("the reading", "the write")
        return f"{reads}: read into a variable that is declared before; {parted}"

    def _behind_header(self) -> str:
        program, inner = self.text.program, self.depth + 1
        shown, step = named(program, self.early.node), self.late.steps[inner]
        if self.text.takes(with_barrier(program, self.late, inner, step.index)):
            return f"put a barrier in the body of {shown}, before {named(program, step.node)}"
        return (
            f"read what {shown} asks for into a variable, put a barrier behind that, and ask for the "
            "variable"
        )

    def _branches(self, node: IfStatement) -> str:
        program, lines = self.text.program, [self.early.node, self.late.node]
        if self._reads_first:
            lines.reverse()
        first, second = (line_of(program, x) for x in lines)
        return (
            f"lines {first} and {second} stand in different branches of {named(program, node)}, and no "
            f"barrier may stand in those: end that `if` behind the branch with line {first}, put a "
            f"barrier there, and begin a second `if` for the branch with line {second}"
        )

    @property
    def _reads_first(self) -> bool:
        """Whether the early one reads and the late one writes."""
        kind = self.race.kind
        return kind == ("write after read" if self.straight else "read after write")

    def _parted(self, before: str, behind: str) -> str:
        """What to do where the checker takes no barrier between."""
        program, depth = self.text.program, self._depth_of_statement if self.same else self.depth
        outer = self._parting(depth)
        there = f"put a barrier behind {before} and before {behind}"
        if outer is None:
            return f"{LEFT}, and {there}, outside of it"
        steps = self.late.steps
        node = steps[outer].node
        loops = [s.node for s in steps[outer:depth] if isinstance(s.node, LOOPS)]
        if loops:
            return f"{self._in_step(node, loops[-1])}, and {there}, outside of that `if`"
        return (
            f"no barrier may stand in {named(program, node)}, which parts threads: "
            f"end it behind {before}, "
            f"put a barrier there, and begin it again before {behind}"
        )

    def _in_step(self, node: StatementNode, loop: StatementNode) -> str:
        """How all threads come to a barrier in a loop, which the `if` or loop `node` keeps some from."""
        shown = named(self.text.program, loop)
        if isinstance(node, IfStatement):
            inside = f"what {named(self.text.program, node)} is around"
            return f"let all threads go round {shown}, with an `if` in it for {inside}"
        return (
            f"let all threads go round {shown} equally often, with an `if` in it for what some leave out"
        )

    def _parting(self, depth: int) -> int | None:
        """The outermost branch or loop, by depth, in which no barrier may stand before the statement."""
        steps = self.late.steps
        for outer in range(depth):
            inner = with_barrier(self.text.program, self.late, outer + 1, steps[outer + 1].index)
            if not self.text.takes(inner):
                return outer
        return None

    def _around(self, *, in_step: bool = False) -> str:
        """A barrier for the way round the loop. in_step: that all go round equally often is said."""
        program, loop = self.text.program, self._loop
        assert loop is not None
        node = self.early.steps[loop].node
        path = self.late if self.late.steps[loop + 1 :] else self.early
        inner = path.steps[loop + 1 :]
        branches = [s.node for s in inner if isinstance(s.node, IfStatement)]
        outside = f", outside of {named(program, branches[0])}" if branches else ""
        text = f"put a barrier at the end of the body of {named(program, node)}{outside}"
        if in_step or self.text.takes(with_barrier(program, path, loop + 1, len(inner[0].block))):
            return text
        outer = self._parting(loop + 1)
        if outer is None:
            return f"{LEFT}, and {text}"
        return f"{self._in_step(self.late.steps[outer].node, node)}, and {text}"
