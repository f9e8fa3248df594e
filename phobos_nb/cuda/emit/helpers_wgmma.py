"""Helpers for `wgmma`: descriptors, fence, wait, and one function per instruction that is used.

Source: PTX ISA, "Asynchronous warpgroup level matrix instructions". The accumulator is a reference
that the instruction reads and writes in place. Fence and wait name the accumulators too: else a compiler
might move the writing of a register behind the fence, or the reading of one before the wait.
"""

from __future__ import annotations

from typing import NamedTuple

from phobos_nb.cuda.emit.prelude import HELPERS, helper

helper(
    "wgmma_descriptor",
    """
@long long wgmma_descriptor(const void* p, unsigned long long fields) {
  return (long long)((shared_address(p) & 0x3ffff) >> 4 | fields);
}""",
    "shared_address",
    feature="wgmma",
)
helper(
    "hold",
    """
template <int N> @void hold(vec<float, N>& v) {
#pragma unroll
  for (int i = 0; i < N; ++i) asm volatile("" : "+f"(v.e[i]) : : "memory");
}
template <int N> __device__ __forceinline__ void hold(vec<int, N>& v) {
#pragma unroll
  for (int i = 0; i < N; ++i) asm volatile("" : "+r"(v.e[i]) : : "memory");
}
template <class T, int N> __device__ __forceinline__ void hold(vec<T, N>& v) {
  auto d = __builtin_bit_cast(fragment<N * sizeof(T) / 4>, v);
#pragma unroll
  for (int i = 0; i < N * sizeof(T) / 4; ++i) asm volatile("" : "+r"(d.r[i]) : : "memory");
  v = __builtin_bit_cast(vec<T, N>, d);
}""",
    "fragment",
)
helper(
    "wgmma_fence",
    """
@void wgmma_fence() { asm volatile("wgmma.fence.sync.aligned;" : : : "memory"); }""",
    feature="wgmma",
)
helper(
    "wgmma_commit",
    """
@void wgmma_commit() { asm volatile("wgmma.commit_group.sync.aligned;" : : : "memory"); }""",
    feature="wgmma",
)
helper(
    "wgmma_wait",
    """
template <int N> @void wgmma_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" : : "n"(N) : "memory");
}""",
    feature="wgmma",
)

OPERANDS = {"f16": "f16", "bf16": "bf16", "f32": "tf32", "i8": "s8"}
"""PTX types of operands by their MLIR types."""
SUMS = {"f16": "f16", "f32": "f32", "i32": "s32"}


class Wgmma(NamedTuple):
    """One instruction: columns, depth, MLIR types of operands and sums, whether a is in registers."""

    columns: int
    depth: int
    operand: str
    sum: str
    in_registers: bool

    @property
    def types(self) -> str:
        """The type suffix of the instruction."""
        operand = OPERANDS[self.operand]
        return f"{SUMS[self.sum]}.{operand}.{operand}"

    @property
    def key(self) -> str:
        """The name of its helper."""
        place = "_ra" if self.in_registers else ""
        return f"wgmma_m64n{self.columns}k{self.depth}_{self.types.replace('.', '_')}{place}"

    @property
    def registers(self) -> int:
        """Registers of the accumulator."""
        return self.columns // (4 if self.sum == "f16" else 2)


def wgmma(instruction: Wgmma) -> str:
    """The key of an instruction's helper, which is made on first use."""
    if instruction.key not in HELPERS:
        helper(instruction.key, _text(instruction), "fragment", feature="wgmma")
    return instruction.key


def _text(w: Wgmma) -> str:
    """The function: template arguments are the immediates of the instruction, as far as it has them."""
    count, packed = w.registers, w.sum == "f16"
    place, kind = ("d.r", "+r") if packed else ("v.e", "+f" if w.sum == "f32" else "+r")
    outputs = ", ".join(f'"{kind}"({place}[{k}])' for k in range(count))
    given = [f'"r"(x.r[{k}])' for k in range(4)] if w.in_registers else ['"l"(a)']
    inputs = [*given, '"l"(b)', '"r"(scale)', *(f'"n"({name})' for name in _immediates(w))]
    at = count + len(given)
    left = _slots(count, 4) if w.in_registers else f"%{count}"
    immediates = "".join(f", %{at + 2 + k}" for k in range(len(_immediates(w))))
    opened = f"  auto d = __builtin_bit_cast(fragment<{count}>, v);\n" if packed else ""
    closed = "  v = __builtin_bit_cast(V, d);\n" if packed else ""
    cast = "  const auto x = __builtin_bit_cast(fragment<4>, a);\n" if w.in_registers else ""
    return f"""
template <int NA, int NB, int TA, int TB, class V, class A>
@void {w.key}(V& v, const A a, long long b, int scale) {{
{opened}{cast}  asm volatile("{{\\n.reg .pred p;\\nsetp.ne.b32 p, %{at + 1}, 0;\\n"
               "wgmma.mma_async.sync.aligned.m64n{w.columns}k{w.depth}.{w.types} "
               "{_slots(0, count)}, {left}, %{at}, p{immediates};\\n}}"
               : {outputs}
               : {", ".join(inputs)}
               : "memory");
{closed}}}"""


def _immediates(w: Wgmma) -> list[str]:
    """Signs for floats, directions for operands of 16 bits that lie in shared memory."""
    if w.operand == "i8":
        return []
    directions = [] if w.operand == "f32" else ["TB"] if w.in_registers else ["TA", "TB"]
    return ["NA", "NB", *directions]


def _slots(start: int, count: int) -> str:
    return f"{{{', '.join(f'%{start + k}' for k in range(count))}}}"
