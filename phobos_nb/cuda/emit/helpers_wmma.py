"""Helpers for WMMA: one function per instruction that is used; a fragment is its 32-bit registers.

Shapes and register counts: PTX ISA, "wmma.load", "wmma.mma", "wmma.store".
"""

from __future__ import annotations

from phobos_nb.cuda.emit.prelude import HELPERS, helper
from phobos_nb.cuda.emit.wmma_registers import registers
from phobos_nb.ir.dialects.subgroup_mma import MatrixType

PTX = {"f16": "f16", "f32": "f32", "f64": "f64", "i32": "s32", "si8": "s8"}


def shape_of(type_: MatrixType) -> str:
    """The instruction's shape as far as the matrix tells it, such as `m32n8k16`."""
    rows, columns = type_.extents
    role, element = type_.role.data, str(type_.element)
    if element == "f64":
        return "m8n8k4"
    if element == "f32" and role != "COp":
        return "m16n16k8"
    if role == "COp":
        return f"m{rows}n{columns}k16"
    m, n = (rows, {16: 16, 32: 8, 8: 32}[rows]) if role == "AOp" else (
        {16: 16, 8: 32, 32: 8}[columns], columns
    )  # fmt: skip
    return f"m{m}n{n}k16"


def _slots(start: int, count: int) -> str:
    return f"{{{', '.join(f'%{start + k}' for k in range(count))}}}"


def _parts(type_: MatrixType) -> tuple[str, str]:
    """The member that holds registers, and their constraint."""
    return ("e", "d") if str(type_.element) == "f64" else ("r", "r")


def move(type_: MatrixType, *, store: bool, transpose: bool) -> str:
    """The key of a load's or store's helper."""
    role = type_.role.data[0].lower()
    element, layout = str(type_.element), "col" if transpose else "row"
    ptx = "tf32" if element == "f32" and role != "c" else PTX[element]
    what = "store_d" if store else f"load_{role}"
    key = f"wmma_{what}_{shape_of(type_)}_{ptx}_{layout}"
    if key in HELPERS:
        return key
    count = registers(type_)
    member, kind = _parts(type_)
    name = f"wmma.{what.replace('_', '.')}.sync.aligned.{layout}.{shape_of(type_)}.{ptx}"
    if store:
        given = ", ".join(f'"{kind}"(f.{member}[{k}])' for k in range(count))
        text = f"""
template <class F> @void {key}(void* p, int lead, const F& f) {{
  asm volatile("{name} [%0], {_slots(2, count)}, %1;" : : "l"(p), "r"(lead), {given} : "memory");
}}"""
    else:
        made = ", ".join(f'"={kind}"(f.{member}[{k}])' for k in range(count))
        text = f"""
template <class F> @F {key}(const void* p, int lead) {{
  F f;
  asm volatile("{name} {_slots(0, count)}, [%{count}], %{count + 1};"
               : {made} : "l"(p), "r"(lead) : "memory");
  return f;
}}"""
    helper(key, text, "fragment", feature=_feature("" if ptx == "f32" else element))
    return key


def product(a: MatrixType, b: MatrixType, c: MatrixType, transposed: tuple[bool, bool]) -> str:
    """The key of a product's helper."""
    element, sums = str(a.element), PTX[str(c.element)]
    layouts = ".".join("col" if t else "row" for t in transposed)
    shape = f"m{c.extents[0]}n{c.extents[1]}k{a.extents[1]}"
    ptx = "tf32" if element == "f32" else PTX[element]
    types = f"{sums}.{sums}" if element == "f16" else f"{sums}.{ptx}.{ptx}.{sums}"
    types = f"rn.{types}" if element == "f64" else types
    key = f"wmma_mma_{shape}_{layouts}_{types}".replace(".", "_")
    if key in HELPERS:
        return key
    counts = [registers(t) for t in (c, a, b, c)]
    starts = [sum(counts[:k]) for k in range(4)]
    groups = ", ".join(_slots(s, n) for s, n in zip(starts, counts, strict=True))
    member, kind = _parts(a)
    made = ", ".join(f'"={kind}"(d.{member}[{k}])' for k in range(counts[0]))
    given = ", ".join(
        f'"{kind}"({v}.{member}[{k}])' for v, n in zip("abc", counts[1:], strict=True) for k in range(n)
    )
    helper(
        key,
        f"""
template <class A, class B, class C> @C {key}(const A& a, const B& b, const C& c) {{
  C d;
  asm volatile("wmma.mma.sync.aligned.{layouts}.{shape}.{types} "
               "{groups};"
               : {made}
               : {given});
  return d;
}}""",
        "fragment",
        feature=_feature(element),
    )
    return key


def _feature(element: str) -> str:
    """F16 and i8 have WMMA since sm_70 and sm_72, tf32 and f64 since sm_80."""
    return {"f32": "mma.tf32", "f64": "mma.f64"}.get(element, "wmma")


helper(
    "wmma_fill",
    """
template <class F, int N> @F wmma_fill(unsigned word) {
  F f;
#pragma unroll
  for (int i = 0; i < N; ++i) f.r[i] = word;
  return f;
}""",
)
