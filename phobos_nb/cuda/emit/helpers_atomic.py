"""Helpers for atomics: CUDA's own where there is one, else a loop of compare-and-swap."""

from __future__ import annotations

from phobos_nb.cuda.emit.prelude import helper

helper(
    "atomic_update",
    """
template <int BYTES> struct word;
template <> struct word<2> { using type = unsigned short; };
template <> struct word<4> { using type = unsigned; };
template <> struct word<8> { using type = unsigned long long; };
template <class T, class F> @T atomic_update(T* p, F next) {
  using W = typename word<sizeof(T)>::type;
  W* const q = reinterpret_cast<W*>(p);
  W seen = *reinterpret_cast<volatile W*>(q), was;
  do {
    was = seen;
    seen = atomicCAS(q, was, __builtin_bit_cast(W, next(__builtin_bit_cast(T, was))));
  } while (seen != was);
  return __builtin_bit_cast(T, was);
}""",
)

for ctype in ("int", "long long", "float", "double", "f16", "bf16"):
    own = ctype.replace(" ", "_")
    old, wanted = ("f32(old)", "f32(wanted)") if ctype in ("f16", "bf16") else ("old", "wanted")
    helper(
        f"atomic_swap.{own}",
        f"""
@{ctype} atomic_swap({ctype}* p, {ctype} wanted, {ctype} value) {{
  return atomic_update(p, [=]({ctype} old) {{ return {old} == {wanted} ? value : old; }});
}}""",
        *("atomic_update", f"f32.{own}") if ctype in ("f16", "bf16") else ("atomic_update",),
    )

PLAIN = {
    ("atomic_add", "int"): "atomicAdd(p, x)",
    ("atomic_add", "long_long"): (
        "(long long)atomicAdd(reinterpret_cast<unsigned long long*>(p), (unsigned long long)x)"
    ),
    ("atomic_add", "float"): "atomicAdd(p, x)",
    ("atomic_add", "double"): "atomicAdd(p, x)",
    ("atomic_exchange", "int"): "atomicExch(p, x)",
    ("atomic_exchange", "float"): "atomicExch(p, x)",
    ("atomic_exchange", "long_long"): (
        "(long long)atomicExch(reinterpret_cast<unsigned long long*>(p), (unsigned long long)x)"
    ),
    ("atomic_max", "int"): "atomicMax(p, x)",
    ("atomic_max", "long_long"): "atomicMax(p, x)",
    ("atomic_min", "int"): "atomicMin(p, x)",
    ("atomic_min", "long_long"): "atomicMin(p, x)",
}
"""Atomics that CUDA has for the type itself."""

for name, function in (("max", "Max"), ("min", "Min")):
    for ctype in ("int", "long long"):
        unsigned = {"int": "unsigned", "long long": "unsigned long long"}[ctype]
        PLAIN[f"atomic_{name}_unsigned", ctype.replace(" ", "_")] = (
            f"({ctype})atomic{function}(reinterpret_cast<{unsigned}*>(p), ({unsigned})x)"
        )
for name, function in (("or", "Or"), ("and", "And"), ("xor", "Xor")):
    PLAIN[f"atomic_{name}", "int"] = f"atomic{function}(p, x)"
    PLAIN[f"atomic_{name}", "long_long"] = (
        f"(long long)atomic{function}(reinterpret_cast<unsigned long long*>(p), (unsigned long long)x)"
    )

for (name, key), body in PLAIN.items():
    ctype = key.replace("_", " ")
    helper(f"{name}.{key}", f"@{ctype} {name}({ctype}* p, {ctype} x) {{ return {body}; }}")

helper(
    "atomic_exchange.double",
    """
@double atomic_exchange(double* p, double x) {
  return __longlong_as_double((long long)atomicExch(reinterpret_cast<unsigned long long*>(p),
                                                    (unsigned long long)__double_as_longlong(x)));
}""",
)

# atom.add.noftz.bf16 is from sm_90; before, the sum is made in f32 and swapped in.
for half, feature in (("f16", "atomic.f16"), ("bf16", "atomic.bf16")):
    helper(
        f"atomic_add.{half}",
        f"""
@{half} atomic_add({half}* p, {half} x) {{
  {half} r;
  asm volatile("atom.add.noftz.{half} %0, [%1], %2;" : "=h"(r.bits) : "l"(p), "h"(x.bits) : "memory");
  return r;
}}""",
        *("atomic_update", f"f32.{half}", f"to_{half}.float"),
        feature=feature,
        fallback=f"""
@{half} atomic_add({half}* p, {half} x) {{
  return atomic_update(p, [=]({half} a) {{ return to_{half}(f32(a) + f32(x)); }});
}}""",
    )

for name in ("max_nan", "min_nan"):
    for ctype in ("float", "double"):
        helper(
            f"atomic_{name}.{ctype}",
            f"""
@{ctype} atomic_{name}({ctype}* p, {ctype} x) {{
  return atomic_update(p, [=]({ctype} a) {{ return {name}(a, x); }});
}}""",
            *("atomic_update", f"{name}.{ctype}"),
        )
    for half in ("f16", "bf16"):
        helper(
            f"atomic_{name}.{half}",
            f"""
@{half} atomic_{name}({half}* p, {half} x) {{
  return atomic_update(p, [=]({half} a) {{ return to_{half}({name}(f32(a), f32(x))); }});
}}""",
            *("atomic_update", f"{name}.float", f"f32.{half}", f"to_{half}.float"),
        )
