"""Whether what a launch left matters to those that follow it in a call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

from xdsl.dialects.builtin import ModuleOp

from phobos_nb.contract import LaunchContract
from phobos_nb.simulate.launch import Outputs, differ_anywhere, simulate
from phobos_nb.simulate.recorder import Cta


@dataclass(frozen=True)
class Step:
    """One launch of a call: its thread module, its contract, its grid."""

    module: ModuleOp
    contract: LaunchContract
    grid: Cta


@dataclass(frozen=True)
class Following:
    """The launches behind one, in order.

    values: the arguments as that one finds them. scratch: the tensors that no caller sees. seed: of the
    order of warps, as in `launch.simulate`.

    Threads leave their sums in scratch as they hold them, with slots past the end of the tile, whose
    values are whatever shared memory held there: such elements differ between runs, and the launch that
    adds the parts makes nothing of them.
    """

    steps: Sequence[Step]
    values: Mapping[str, Any]
    scratch: Set[str]
    seed: int = 0

    def differ(self, one: Outputs, other: Outputs) -> bool:
        """Whether the call gives something else for one than for the other of what a launch left."""
        if differ_anywhere(self._lasting(one), self._lasting(other)):
            return True
        if not self.steps or not differ_anywhere(one, other):
            return False
        return differ_anywhere(self._given(one), self._given(other))

    def _lasting(self, outputs: Outputs) -> Outputs:
        return {name: array for name, array in outputs.items() if name not in self.scratch}

    def _given(self, left: Outputs) -> Outputs:
        """What the caller gets where the launches find this."""
        values = {**self.values, **left}
        found = dict(self._lasting(left))
        for step in self.steps:
            result = simulate(
                step.module,
                step.contract,
                values,
                grid=step.grid,
                races=False,
                banks=False,
                seed=self.seed,
            )
            values |= result.outputs
            found |= self._lasting(result.outputs)
        return found
