"""Which lane of an H200 holds which element of a WMMA fragment: the PTX ISA leaves it open.

`measured` loads matrices whose elements are their own numbers by the emitter's helpers and reads the
registers; `expected` says what is found there on sm_90: the fragments of `mma.sync`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from xdsl.dialects.builtin import f16, f32, f64, i32

from phobos_nb import target
from phobos_nb.cuda.emit.helpers_wmma import move
from phobos_nb.cuda.emit.prelude import prelude
from phobos_nb.cuda.emit.wmma_registers import fragment_type, registers
from phobos_nb.ir.dialects.subgroup_mma import SHAPES, SI8, SUMS, MatrixType
from phobos_nb.simulate.fragments import Fragment, accumulator, operand_a, operand_b

OPERANDS = {"f16": f16, "si8": SI8, "f32": f32, "f64": f64}
PER = {f16: 2, SI8: 4, f32: 1, f64: 1, i32: 1}
"""Elements of a register."""
BITS = {f16: np.uint16, SI8: np.uint8, f32: np.uint32, f64: np.float64, i32: np.uint32}


def matrices() -> Iterator[MatrixType]:
    """Every matrix of every product."""
    seen: set[MatrixType] = set()
    for name, shapes in SHAPES.items():
        for m, n, k in shapes:
            sums = [MatrixType(m, n, s, "COp") for s in SUMS[name]]
            element = OPERANDS[name]
            for one in (MatrixType(m, k, element, "AOp"), MatrixType(k, n, element, "BOp"), *sums):
                if one not in seen:
                    seen.add(one)
                    yield one


def turned(f: Fragment) -> Fragment:
    """Rows and columns exchanged."""
    return Fragment(f.columns, f.rows)


def stacked(f: Fragment, count: int, step: int) -> Fragment:
    """Fragments one below the other, `step` rows apart."""
    rows = np.concatenate([f.rows + step * k for k in range(count)])
    return Fragment(rows, np.concatenate([f.columns] * count))


def expected(type_: MatrixType) -> Fragment:
    """Row and column of each register's elements [registers, elements, lanes] on sm_90."""
    (rows, columns), per, role = type_.extents, PER[type_.element], type_.role.data
    if role == "COp":
        found = _sums(rows, columns)
        return found if type_.element == f16 else _split(found)
    found = _left(rows, columns, per) if role == "AOp" else _right(rows, columns, per)
    repeat = registers(type_) // len(found.rows)
    return Fragment(np.tile(found.rows, (repeat, 1, 1)), np.tile(found.columns, (repeat, 1, 1)))


def _left(rows: int, k: int, per: int) -> Fragment:
    if rows == 8:
        return turned(operand_b(k, per))
    return stacked(operand_a(16, k, per), rows // 16, 16)


def _right(k: int, columns: int, per: int) -> Fragment:
    if columns == 32:
        return turned(_left(32, k, per))
    return turned(stacked(turned(operand_b(k, per)), columns // 8, 8))


def _sums(rows: int, columns: int) -> Fragment:
    if columns == 32:
        return turned(_sums(32, 8))
    if rows == 8:
        return accumulator(8)
    if columns == 8:
        return stacked(accumulator(16), 2, 16)
    return turned(stacked(turned(accumulator(16)), 2, 8))


def _split(f: Fragment) -> Fragment:
    """One element per register."""
    return Fragment(f.rows.reshape(-1, 1, 32), f.columns.reshape(-1, 1, 32))


def source(type_: MatrixType, transpose: bool) -> str:
    """A kernel that loads one matrix from global memory and writes its registers."""
    key = move(type_, store=False, transpose=transpose)
    kind, count = fragment_type(type_), registers(type_)
    word = "double" if type_.element == f64 else "unsigned"
    member = "e" if type_.element == f64 else "r"
    body = f"""
extern "C" __global__ void kern(const void* p, int lead, {word}* out) {{
  const auto f = ph::{key}<{kind}>(p, lead);
  for (int i = 0; i < {count}; ++i) out[i * 32 + threadIdx.x] = f.{member}[i];
}}"""
    return "\n".join([*prelude([key, "fragment"], body, target.get("sm_90a")), body])


def numbered(type_: MatrixType, transpose: bool) -> tuple[list[np.ndarray], int]:
    """Memory whose elements are their own numbers by rows, in bytes of low and high part; its lead."""
    rows, columns = type_.extents
    number = np.arange(rows * columns).reshape(rows, columns)
    laid = np.ascontiguousarray(number.T if transpose else number)
    parts = [laid & 255, laid >> 8] if type_.element == SI8 else [laid]
    return [p.astype(BITS[type_.element]) for p in parts], rows if transpose else columns


def read(type_: MatrixType, outputs: list[np.ndarray]) -> np.ndarray:
    """The numbers in the registers, [registers, elements, lanes]."""
    parts = [o.reshape(registers(type_), 32, 1).view(BITS[type_.element]) for o in outputs]
    total = sum(p.astype(np.int64) << 8 * k for k, p in enumerate(parts))
    return np.asarray(total).swapaxes(1, 2)


def agrees(type_: MatrixType, found: np.ndarray) -> bool:
    """Whether the registers hold what is expected."""
    wanted = expected(type_)
    return bool(np.array_equal(found, wanted.rows * type_.extents[1] + wanted.columns))


def measured(cupy: Any, load: Any) -> dict[str, bool]:
    """Whether each matrix, by rows and by columns, lies as expected; `load` makes code of a text."""
    report: dict[str, bool] = {}
    for type_ in matrices():
        for transpose in (False, True):
            images, lead = numbered(type_, transpose)
            function = cupy.RawModule(path=load(source(type_, transpose))).get_function("kern")
            outputs: list[np.ndarray] = []
            for image in images:
                kind = np.float64 if type_.element == f64 else np.uint32
                out = cupy.zeros(registers(type_) * 32, kind)
                function((1,), (32,), (cupy.asarray(image), np.int32(lead), out))
                outputs.append(cupy.asnumpy(out))
            report[f"{type_} by {'columns' if transpose else 'rows'}"] = agrees(
                type_, read(type_, outputs)
            )
    return report
