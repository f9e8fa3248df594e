"""What a compiled kernel promises and needs: the one description that launches, simulations,
records and exports share. Plain data, standard library only.

Note [Entry arguments] A thread-level kernel takes, in this order: one pointer per tensor parameter
(source order); one extent per symbol (order of first appearance in the signature); for each tensor the
strides in elements of its axes (all axes, or all but the last where the last is known to be 1); one
value per scalar parameter; one tensor map per `TensorMap`. Extents and strides are `index`. A rank-0
stride list is empty. A tensor axis whose dim is a constant still has a stride.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

EXTENT_BOUND = 2**31 - 2**14
"""Extents of bounded arrays stay below; what is left to 2^31 is for partial tiles and look-ahead."""

STRIDE_BOUND = 2**22
"""Strides of bounded arrays, in elements, are from 0 to this: 511 rows of one fit 32 bits."""

MOST = ("MOST_X", "MOST_Y")
"""Constants that bound the extents which the grid steps along on its axes x and y."""

Dim = int | str
"""A tensor dimension: a constant extent or the name of a run-time symbol."""


@dataclass(frozen=True)
class TensorParameter:
    """A global tensor of the signature. `reads` and `writes` say what the body does with it."""

    name: str
    dtype: str
    dims: tuple[Dim, ...]
    reads: bool = True
    writes: bool = False


@dataclass(frozen=True)
class ScalarParameter:
    """A scalar of the signature, passed by value."""

    name: str
    dtype: str


Parameter = TensorParameter | ScalarParameter


@dataclass(frozen=True)
class EntryArgument:
    """One argument of the thread-level entry function, see Note [Entry arguments].

    `name` is the tensor (pointer, stride), the symbol (extent), the scalar parameter or the tensor map;
    `axis` belongs to strides; `dtype` is the element type (pointer, map), "index", or the scalar's own.
    """

    kind: Literal["pointer", "extent", "stride", "scalar", "map"]
    name: str
    dtype: str
    axis: int = -1


@dataclass(frozen=True)
class TensorMap:
    """How bulk copies address a tensor parameter: in boxes, one extent per axis of the tensor.

    swizzle: bytes over which 16-byte pieces are exchanged in shared memory, 0, 32, 64 or 128. promotion:
    bytes that the L2 cache fetches at least, 0, 64, 128 or 256. Encoded at every launch, from the array.
    """

    name: str
    tensor: str
    box: tuple[int, ...]
    swizzle: int = 0
    promotion: int = 128


@dataclass(frozen=True)
class GridTerm:
    """ceil(extent / step) blocks cover the extent; `extent` is a constant or a symbol."""

    extent: Dim
    step: int

    def blocks(self, extents: Mapping[str, int]) -> int:
        """The number of blocks for given symbol values."""
        extent = self.extent if isinstance(self.extent, int) else extents[self.extent]
        return -(-extent // self.step)


@dataclass(frozen=True)
class GridRule:
    """How many CTAs a call starts. Axis d is the largest of `axes[d]`, 1 when it is empty.

    `problem` is empty when the rule is complete, else the reason why a call must give `grid=`.
    """

    axes: tuple[tuple[GridTerm, ...], ...] = ((), (), ())
    problem: str = ""

    def shape(self, extents: Mapping[str, int]) -> tuple[int, int, int]:
        """The grid for given symbol values; an axis with a zero extent has zero blocks."""
        sizes = [max((t.blocks(extents) for t in terms), default=1) for terms in self.axes]
        return sizes[0], sizes[1], sizes[2]

    def thin(self, constants: Mapping[str, int]) -> dict[str, int]:
        """Symbol -> the most that its extent is, by the constants of `MOST`."""
        if self.problem:
            return {}
        wanted = [(terms, constants.get(name, 0)) for name, terms in zip(MOST, self.axes, strict=False)]
        return {t.extent: n for terms, n in wanted for t in terms if n > 0 and isinstance(t.extent, str)}

    def bounds(self) -> tuple[int | None, int | None, int | None]:
        """The largest grid that extents up to `EXTENT_BOUND` infer; None where nothing is inferred."""
        if self.problem:
            return None, None, None
        largest = [
            max((-(-(t.extent if isinstance(t.extent, int) else EXTENT_BOUND) // t.step) for t in terms),
                default=1)
            for terms in self.axes
        ]  # fmt: skip
        return largest[0], largest[1], largest[2]


@dataclass(frozen=True)
class Variant:
    """What the generated code takes for granted of the arrays; checked before every launch.

    unit_stride: the innermost stride of every tensor is 1 (or its last extent is at most 1).
    aligned: every base address is a multiple of 16 bytes and so is every outer stride in bytes, except
    of the tensors named in `thin`: their last extent is at most 1, and no access to them is wide.
    index_bits: width of extents, strides and element offsets, 32 or 64.
    bounded: extents are below `EXTENT_BOUND`, strides from 0 to `STRIDE_BOUND`, the grid within
    `GridRule.bounds`: most index arithmetic then provably fits 32 bits, whatever `index_bits` is.
    """

    unit_stride: bool = True
    aligned: bool = True
    index_bits: int = 64
    bounded: bool = True
    thin: tuple[str, ...] = ()


@dataclass(frozen=True)
class Output:
    """One place that prints, or that fails an assertion, numbered by its order in the thread MLIR.

    text: as the author wrote it, with `{}` for each value. line: the reader's line number, 0 where it
    is not known. fails: an assertion, after which the thread stops. types: of the values, such as "f32".
    """

    text: str
    line: int = 0
    fails: bool = False
    types: tuple[str, ...] = ()


@dataclass(frozen=True)
class LaunchContract:
    """Everything needed to check a call and start one kernel.

    promises: symbol -> multiple, from `@aligned`; a launch that breaks one raises.
    threads: per CTA, including producer warps; body_threads is what `ctx.thread` ranges over.
    shared_bytes: total per CTA; `dynamic_shared` says that it is passed at launch (above 48 KB).
    constants: the configuration it was compiled for, such as TILE_M.
    outputs: what it prints and asserts, in order of appearance.
    cluster: CTAs of a cluster along each axis; a grid holds whole clusters. maps: tensor maps to pass.
    """

    kernel: str
    entry: str
    parameters: tuple[Parameter, ...]
    arguments: tuple[EntryArgument, ...]
    grid: GridRule
    threads: int
    body_threads: int
    shared_bytes: int
    dynamic_shared: bool
    variant: Variant
    target: str
    promises: Mapping[str, int] = field(default_factory=dict[str, int])
    constants: Mapping[str, int] = field(default_factory=dict[str, int])
    outputs: tuple[Output, ...] = ()
    cluster: tuple[int, int, int] = (1, 1, 1)
    maps: tuple[TensorMap, ...] = ()

    @property
    def tensors(self) -> tuple[TensorParameter, ...]:
        """The tensor parameters in source order."""
        return tuple(p for p in self.parameters if isinstance(p, TensorParameter))

    @property
    def symbols(self) -> tuple[str, ...]:
        """The run-time extents in order of first appearance."""
        names = [d for t in self.tensors for d in t.dims if isinstance(d, str)]
        return tuple(dict.fromkeys(names))


@dataclass(frozen=True)
class Scratch:
    """Device memory that a plan owns, C-contiguous; launches take it as a tensor parameter of its name.

    dims: each extent is a term's number of blocks, such as GridTerm("M", 1) for M itself. clear: all
    zero when a call's first launch starts; else zero at the first call, later what the last call left.
    """

    name: str
    dtype: str
    dims: tuple[GridTerm, ...]
    clear: bool = False

    def shape(self, extents: Mapping[str, int]) -> tuple[int, ...]:
        """The extents for given symbol values."""
        return tuple(d.blocks(extents) for d in self.dims)


@dataclass(frozen=True)
class Launch:
    """One launch of a plan. Only the one whose role is "main" takes a caller's `grid=`."""

    contract: LaunchContract
    role: str = "main"


@dataclass(frozen=True)
class LaunchPlan:
    """What a call starts: launches in order on one stream, and the scratch they share.

    parameters: of the call; every launch takes some of them, and scratch, by name.
    """

    kernel: str
    parameters: tuple[Parameter, ...]
    launches: tuple[Launch, ...]
    scratch: tuple[Scratch, ...] = ()

    @property
    def main(self) -> LaunchContract:
        """The contract of the launch that does the kernel's work."""
        return next(x.contract for x in self.launches if x.role == "main")

    def grids(
        self, grid: tuple[int, int, int], extents: Mapping[str, int]
    ) -> tuple[tuple[int, int, int], ...]:
        """The grid of every launch, `grid` being the main one's; all zero where that one is empty."""
        if 0 in grid:
            return ((0, 0, 0),) * len(self.launches)
        return tuple(grid if x.role == "main" else x.contract.grid.shape(extents) for x in self.launches)


def single_launch(contract: LaunchContract) -> LaunchPlan:
    """The plan of a kernel that is one launch."""
    return LaunchPlan(contract.kernel, contract.parameters, (Launch(contract),))


def entry_arguments(
    parameters: tuple[Parameter, ...], variant: Variant, maps: tuple[TensorMap, ...] = ()
) -> tuple[EntryArgument, ...]:
    """The entry's arguments for a signature, in the order of Note [Entry arguments]."""
    tensors = [p for p in parameters if isinstance(p, TensorParameter)]
    symbols = dict.fromkeys(d for t in tensors for d in t.dims if isinstance(d, str))
    pointers = [EntryArgument("pointer", t.name, t.dtype) for t in tensors]
    extents = [EntryArgument("extent", s, "index") for s in symbols]
    strides = [
        EntryArgument("stride", t.name, "index", axis)
        for t in tensors
        for axis in range(len(t.dims) - (1 if variant.unit_stride else 0))
    ]
    scalars = [
        EntryArgument("scalar", p.name, p.dtype) for p in parameters if isinstance(p, ScalarParameter)
    ]
    dtypes = {t.name: t.dtype for t in tensors}
    described = [EntryArgument("map", x.name, dtypes[x.tensor]) for x in maps]
    return (*pointers, *extents, *strides, *scalars, *described)


def to_plain(contract: LaunchContract) -> dict[str, Any]:
    """The contract as dictionaries, lists, strings and numbers, ready for JSON."""
    return asdict(contract)


def from_plain(data: Mapping[str, Any]) -> LaunchContract:
    """The contract that `to_plain` wrote; `KeyError` or `TypeError` where it did not."""
    axes = [tuple(GridTerm(t["extent"], t["step"]) for t in axis) for axis in data["grid"]["axes"]]
    known: dict[str, Any] = {
        "parameters": tuple(_parameter(p) for p in data["parameters"]),
        "arguments": tuple(EntryArgument(**a) for a in data["arguments"]),
        "grid": GridRule((axes[0], axes[1], axes[2]), data["grid"]["problem"]),
        "variant": variant_from_plain(data["variant"]),
        "cluster": tuple(data.get("cluster", (1, 1, 1))),
        "maps": tuple(_map(x) for x in data.get("maps", ())),
        "outputs": tuple(
            Output(o["text"], o["line"], o["fails"], tuple(o["types"])) for o in data.get("outputs", ())
        ),
    }
    return LaunchContract(**{**data, **known})


def variant_from_plain(data: Mapping[str, Any]) -> Variant:
    """The variant of which `asdict` made this; records before `thin` have none."""
    known: dict[str, Any] = {**data, "thin": tuple(data.get("thin", ()))}
    return Variant(**known)


def plan_to_plain(plan: LaunchPlan) -> dict[str, Any]:
    """The plan as dictionaries, lists, strings and numbers, ready for JSON."""
    return asdict(plan)


def plan_from_plain(data: Mapping[str, Any]) -> LaunchPlan:
    """The plan that `plan_to_plain` wrote; `KeyError` or `TypeError` where it did not."""
    scratch = [
        Scratch(s["name"], s["dtype"], tuple(GridTerm(**d) for d in s["dims"]), s["clear"])
        for s in data["scratch"]
    ]
    return LaunchPlan(
        data["kernel"],
        tuple(_parameter(p) for p in data["parameters"]),
        tuple(Launch(from_plain(x["contract"]), x["role"]) for x in data["launches"]),
        tuple(scratch),
    )


def _map(data: Mapping[str, Any]) -> TensorMap:
    known: dict[str, Any] = {**data, "box": tuple(data["box"])}
    return TensorMap(**known)


def _parameter(data: Mapping[str, Any]) -> Parameter:
    if "dims" not in data:
        return ScalarParameter(**data)
    known: dict[str, Any] = {**data, "dims": tuple(data["dims"])}
    return TensorParameter(**known)
