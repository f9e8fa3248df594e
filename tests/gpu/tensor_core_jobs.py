"""The launches by which a GPU's tensor cores are held against the simulator."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import ml_dtypes
import numpy as np

from phobos_nb.simulate.descriptors import WIDTHS, Descriptor, addresses
from phobos_nb.simulate.fragments import Fragment, accumulator, operand_a, operand_b
from tests.gpu.tensor_core_inputs import CLASSES, batch
from tests.tensor_core_kernels import (
    DEPTH,
    MOVES,
    PER_REGISTER,
    ROW,
    Kernel,
    Move,
    Wgmma,
    Wmma,
    mma_kernel,
    move_kernel,
    wgmma_kernel,
    wmma_kernel,
)

NUMPY = {
    "f16": np.dtype(np.float16),
    "bf16": np.dtype(ml_dtypes.bfloat16),
    "f32": np.dtype(np.float32),
    "f64": np.dtype(np.float64),
    "i8": np.dtype(np.int8),
    "i32": np.dtype(np.int32),
}
MODES = {0: 0, 128: 1, 64: 2, 32: 3}


@dataclass(frozen=True)
class Job:
    """One launch: a kernel, its tensors by name, how many blocks; `kind` is what it is counted under."""

    kind: str
    name: str
    kernel: Kernel
    tensors: dict[str, np.ndarray] = field(repr=False)
    blocks: int

    @property
    def output(self) -> str:
        """The tensor that is written."""
        return next(t.name for t in self.kernel.contract.tensors if t.writes)


def jobs(scale: int = 1) -> Iterator[Job]:
    """All launches; `scale` multiplies how many products of each class there are."""
    yield from mma_jobs(48 * scale)
    yield from wmma_jobs(12 * scale)
    yield from wgmma_jobs(12 * scale)
    yield from layout_jobs()
    yield from move_jobs()


# mma.sync and WMMA -------------------------------------------------------------------------------

MMA = (
    *(((16, 8, k), "f16", sums) for k in (8, 16) for sums in ("f32", "f16")),
    *(((16, 8, k), "bf16", "f32") for k in (8, 16)),
    *(((16, 8, k), "f32", "f32") for k in (4, 8)),
    *(((16, 8, k), "i8", "i32") for k in (16, 32)),
    ((8, 8, 4), "f64", "f64"),
)
WMMA_SHAPES = ((16, 16, 16), (32, 8, 16), (8, 32, 16))
WMMA = (
    *((s, "f16", sums) for s in WMMA_SHAPES for sums in ("f32", "f16")),
    *((s, "i8", "i32") for s in WMMA_SHAPES),
    ((16, 16, 8), "f32", "f32"),
    ((8, 8, 4), "f64", "f64"),
)


def shapes_of(mnk):
    """The shapes of a, b and c."""
    m, n, k = mnk
    return (m, k), (k, n), (m, n)


def by_lanes(matrices, fragment: Fragment):
    """[products, rows, columns] as [products, lanes, elements]."""
    held = matrices[:, fragment.rows, fragment.columns]
    return np.ascontiguousarray(np.moveaxis(held, 3, 1)).reshape(len(matrices), 32, -1)


def mma_jobs(per_class: int) -> Iterator[Job]:
    """Every shape and type of mma.sync."""
    for mnk, operand, sums in MMA:
        m, n, k = mnk
        name = f"mma m{m}n{n}k{k} {operand} {sums}"
        values = batch(name, operand, sums, shapes_of(mnk), per_class)
        per = PER_REGISTER[operand]
        fragments = operand_a(m, k, per), operand_b(k, per), accumulator(m)
        types = (operand, operand, sums)
        held = [by_lanes(x, f).view(NUMPY[t]) for x, f, t in zip(values, fragments, types, strict=True)]
        tensors = dict(zip("abc", held, strict=True)) | {"out": np.zeros_like(held[2])}
        yield Job("mma.sync", name, mma_kernel(mnk, operand, sums), tensors, len(held[0]))


def wmma_jobs(per_class: int) -> Iterator[Job]:
    """Every shape and type of WMMA, operands by rows and by columns."""
    for mnk, operand, sums in WMMA:
        for ways in ((False, False), (True, True), (True, False), (False, True)):
            m, n, k = mnk
            letters = "".join("c" if w else "r" for w in ways)
            name = f"wmma m{m}n{n}k{k} {operand} {sums} {letters}"
            values = batch(name, operand, sums, shapes_of(mnk), per_class)
            a, b = (
                np.ascontiguousarray(x.swapaxes(1, 2) if turned else x).view(NUMPY[operand])
                for x, turned in zip(values[:2], ways, strict=True)
            )
            c = values[2].view(NUMPY[sums])
            tensors = {"a": a, "b": b, "c": c, "out": np.zeros_like(c)}
            yield Job("wmma", name, wmma_kernel(Wmma(mnk, operand, sums, ways)), tensors, len(c))


# wgmma -------------------------------------------------------------------------------------------

TYPES = (("f16", "f32"), ("f16", "f16"), ("bf16", "f32"), ("f32", "f32"), ("i8", "i32"))


def descriptor(start: int, swizzle: int, rows: int, size: int, mn_major: bool) -> int:
    """A descriptor of an operand that is packed as tightly as its swizzle allows, as an i64."""
    group = 8 * WIDTHS[MODES[swizzle]] * 16
    if not swizzle:
        leading, stride = (rows * size // 16 * 128, 128) if mn_major else (128, 256)
    elif mn_major:
        leading, stride = group, -(-rows * size // (group // 8)) * group
    else:
        leading, stride = 16, group
    bits = start >> 4 | leading >> 4 << 16 | stride >> 4 << 32 | MODES[swizzle] << 62
    return bits - (1 << 64) if bits >> 63 else bits


def image_of(values, case: Wgmma, swizzles):
    """Images of shared memory [products, bytes] with a and b, and the descriptors that find them."""
    a, b = values
    size, k = a.itemsize, DEPTH[case.operand]
    starts, found, ends = [], [], []
    sides = ((64, swizzles[0], case.mn_major[0]), (case.columns, swizzles[1], case.mn_major[1]))
    at = 0
    for rows, swizzle, mn in sides:
        bits = descriptor(at, swizzle, rows, size, mn)
        places = addresses(Descriptor.of(bits), (rows, k), size, mn_major=mn)
        starts.append(bits)
        found.append(places // size)
        at = -(-(int(places.max()) + size) // 1024) * 1024
        ends.append(at)
    image = np.zeros((len(a), ends[-1] // size), a.dtype)
    image[:, found[0]] = a
    image[:, found[1]] = b.swapaxes(1, 2)
    return image.view(np.int32), starts


def wgmma_by_lanes(matrices, columns: int):
    """Accumulators [products, 64, columns] as [products, 128, columns / 2]."""
    parts = matrices.reshape(len(matrices), 4, 2, 8, columns // 8, 4, 2)
    lanes = parts.transpose(0, 1, 3, 5, 4, 2, 6)
    return np.ascontiguousarray(lanes).reshape(len(matrices), 128, -1)


def left_by_lanes(a):
    """Left operands [products, 64, k] as the fragments of 128 threads."""
    per = 4 // a.itemsize
    parts = a.reshape(len(a), 4, 2, 8, 2, 4, per).transpose(0, 1, 3, 5, 4, 2, 6)
    return np.ascontiguousarray(parts).reshape(len(a), 128, -1)


def wgmma_job(kind: str, case: Wgmma, swizzles, per_class: int, label: str = "") -> Job:
    """One case of wgmma on products of every class."""
    k = DEPTH[case.operand]
    name = f"wgmma n{case.columns} {case.operand} {case.sums} {label}".strip()
    shapes = shapes_of((64, case.columns, k))
    a, b, c = batch(name, case.operand, case.sums, shapes, per_class)
    image, (da, db) = image_of((a, b), case, swizzles)
    start = wgmma_by_lanes(c, case.columns).view(NUMPY[case.sums])
    tensors = {"image": image, "da": np.array([da]), "db": np.array([db])}
    if case.in_registers:
        tensors["a"] = left_by_lanes(a).view(NUMPY[case.operand])
    tensors |= {"c": start, "out": np.zeros_like(start)}
    made = wgmma_kernel(case, image.shape[1] * 4)
    return Job(kind, name, made, tensors, len(a))


def wgmma_jobs(per_class: int) -> Iterator[Job]:
    """Sums of every type: shapes, a in registers, without accumulator, negated operands."""
    few = max(1, per_class // 12)
    for operand, sums in TYPES:
        yield wgmma_job("wgmma", Wgmma(8, operand, sums), (128, 128), per_class)
        for n in (24, 64, 96, 128, 192, 256):
            yield wgmma_job("wgmma", Wgmma(n, operand, sums), (128, 128), few)
        registers = Wgmma(16, operand, sums, in_registers=True)
        yield wgmma_job("wgmma", registers, (128, 128), few, "registers")
        yield wgmma_job("wgmma", Wgmma(16, operand, sums, fresh=True), (128, 128), few, "fresh")
        for signs in () if operand == "i8" else ((True, False), (False, True), (True, True)):
            case = Wgmma(16, operand, sums, negate=signs)
            yield wgmma_job("wgmma", case, (128, 128), few, f"negated {signs}")


def layout_jobs() -> Iterator[Job]:
    """Every pair of swizzles, and every direction that a type can have."""
    for operand, sums in TYPES:
        sixteen = operand in ("f16", "bf16")
        ways = [(a, b) for a in (False, True) for b in (False, True)] if sixteen else [(False, False)]
        for mn in ways:
            for swizzle_a in MODES:
                for swizzle_b in MODES:
                    n = {0: 64, 32: 32, 64: 128, 128: 200}[swizzle_b] if operand != "i8" else 64
                    case = Wgmma(n, operand, sums, mn_major=mn)
                    label = f"layout {mn} {swizzle_a} {swizzle_b}"
                    yield wgmma_job("descriptors", case, (swizzle_a, swizzle_b), 1, label)


# Moves -------------------------------------------------------------------------------------------


def move_jobs() -> Iterator[Job]:
    """Each form of ldmatrix, stmatrix and movmatrix on random bits."""
    rng = np.random.Generator(np.random.PCG64(11))
    for case in MOVES:
        image = rng.integers(0, 1 << 16, (4, 32, ROW), dtype=np.int64).astype(np.uint16)
        a = rng.integers(0, 1 << 16, (4, 32, case.tiles, 2), dtype=np.int64).astype(np.uint16)
        tensors = {"image": image.view(np.int32), "a": a.view(np.float16)}
        written = "rows" if case.kind == "stmatrix" else "out"
        tensors[written] = np.zeros_like((image if case.kind == "stmatrix" else a).view(np.float16))
        yield Job("moves", describe(case), move_kernel(case), tensors, 4)


def describe(case: Move) -> str:
    """The instruction's name."""
    way = " trans" if case.transpose else ""
    return f"{case.kind} x{case.tiles}{way}"


def classes() -> list[str]:
    """The names of the classes of inputs."""
    return list(CLASSES)
