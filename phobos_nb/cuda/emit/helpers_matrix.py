"""Helpers for moves of tiles and `mma.sync`: a fragment is a vector whose bits are 32-bit registers.

Shapes and register counts: PTX ISA, "Warp-level matrix instructions"; which target has which shape in
its "Target ISA Notes".
"""

from __future__ import annotations

from typing import NamedTuple

from phobos_nb.cuda.emit.prelude import helper


def _slots(start: int, count: int) -> str:
    return ", ".join(f"%{start + k}" for k in range(count))


helper("fragment", "template <int N> struct fragment { unsigned r[N]; };")

for tiles in (1, 2, 4):
    for transposed in ("", ".trans"):
        outputs = ", ".join(f'"=r"(r[{k}])' for k in range(tiles))
        name = f"ldmatrix_x{tiles}{transposed.replace('.', '_')}"
        helper(
            name,
            f"""
template <class V> @V {name}(const void* p) {{
  struct alignas(V) registers {{ unsigned r[{tiles}]; }} f;
  unsigned* const r = f.r;
  asm volatile("ldmatrix.sync.aligned.m8n8.x{tiles}{transposed}.shared.b16 "
               "{{{_slots(0, tiles)}}}, [%{tiles}];"
               : {outputs} : "r"(shared_address(p)) : "memory");
  return __builtin_bit_cast(V, f);
}}""",
            "shared_address",
            feature="ldmatrix",
        )

        inputs = ", ".join(f'"r"(f.r[{k}])' for k in range(tiles))
        name = f"stmatrix_x{tiles}{transposed.replace('.', '_')}"
        helper(
            name,
            f"""
template <class V> @void {name}(void* p, const V& v) {{
  const auto f = __builtin_bit_cast(fragment<{tiles}>, v);
  asm volatile("stmatrix.sync.aligned.m8n8.x{tiles}{transposed}.shared.b16 "
               "[%{tiles}], {{{_slots(0, tiles)}}};"
               : : {inputs}, "r"(shared_address(p)) : "memory");
}}""",
            "shared_address",
            "fragment",
            feature="stmatrix",
        )

helper(
    "movmatrix",
    """
template <class V> @V movmatrix(const V& v) {
  const auto x = __builtin_bit_cast(fragment<1>, v);
  fragment<1> d;
  asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(d.r[0]) : "r"(x.r[0]));
  return __builtin_bit_cast(V, d);
}""",
    "fragment",
    feature="movmatrix",
)


class Mma(NamedTuple):
    """One instruction: shape, PTX types of operands and sums, registers of a, b and c, feature."""

    shape: str
    operand: str
    sum: str
    a: int
    b: int
    c: int
    feature: str


PTX_TYPES = {
    "f16": "f16",
    "bf16": "bf16",
    "tf32": "float",
    "f64": "double",
    "s8": "signed_char",
    "f32": "float",
    "s32": "int",
}

INSTRUCTIONS = (
    Mma("m16n8k8", "f16", "f32", 2, 1, 4, "mma.sync"),
    Mma("m16n8k8", "f16", "f16", 2, 1, 2, "mma.sync"),
    Mma("m16n8k16", "f16", "f32", 4, 2, 4, "mma.m16n8k16"),
    Mma("m16n8k16", "f16", "f16", 4, 2, 2, "mma.m16n8k16"),
    Mma("m16n8k8", "bf16", "f32", 2, 1, 4, "mma.bf16"),
    Mma("m16n8k16", "bf16", "f32", 4, 2, 4, "mma.bf16"),
    Mma("m16n8k4", "tf32", "f32", 2, 1, 4, "mma.tf32"),
    Mma("m16n8k8", "tf32", "f32", 4, 2, 4, "mma.tf32"),
    Mma("m16n8k16", "s8", "s32", 2, 1, 4, "mma.m16n8k16"),
    Mma("m16n8k32", "s8", "s32", 4, 2, 4, "mma.m16n8k16"),
)


def _instruction(mma: Mma) -> None:
    """Accumulators in f32 or s32 are read as 32-bit registers too: the bits are the same."""
    types = f"{mma.sum}.{mma.operand}.{mma.operand}.{mma.sum}"
    whole = ", ".join(f'"{"=" if out else ""}r"({x})' for out, x in _operands(mma)[: mma.c])
    inputs = ", ".join(f'"r"({x})' for out, x in _operands(mma) if not out)
    places = [mma.c, mma.a, mma.b, mma.c]
    starts = [sum(places[:k]) for k in range(4)]
    groups = ", ".join(f"{{{_slots(s, n)}}}" for s, n in zip(starts, places, strict=True))
    name = f"mma_{mma.shape}_{PTX_TYPES[mma.operand]}_{PTX_TYPES[mma.sum]}"
    helper(
        name,
        f"""
template <class V, class A, class B> @V {name}(const A& a, const B& b, const V& c) {{
  const auto x = __builtin_bit_cast(fragment<{mma.a}>, a);
  const auto y = __builtin_bit_cast(fragment<{mma.b}>, b);
  const auto z = __builtin_bit_cast(fragment<{mma.c}>, c);
  fragment<{mma.c}> d;
  asm volatile("mma.sync.aligned.{mma.shape}.row.col.{types} "
               "{groups};"
               : {whole}
               : {inputs});
  return __builtin_bit_cast(V, d);
}}""",
        "fragment",
        feature=mma.feature,
    )


def _operands(mma: Mma) -> list[tuple[bool, str]]:
    inputs = [("x", mma.a), ("y", mma.b), ("z", mma.c)]
    outputs = [(True, f"d.r[{k}]") for k in range(mma.c)]
    return [*outputs, *((False, f"{v}.r[{k}]") for v, n in inputs for k in range(n))]


for instruction in INSTRUCTIONS:
    _instruction(instruction)

helper(
    "mma_m8n8k4_double_double",
    """
template <class V, class A, class B> @V mma_m8n8k4_double_double(const A& a, const B& b, const V& c) {
  V d;
  asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%4, %5};"
               : "=d"(d.e[0]), "=d"(d.e[1])
               : "d"(a.e[0]), "d"(b.e[0]), "d"(c.e[0]), "d"(c.e[1]));
  return d;
}""",
    feature="mma.f64",
)
