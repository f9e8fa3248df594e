"""Helpers for f16 and bf16, conversions that round once, and NaN-propagating extrema."""

from __future__ import annotations

from phobos_nb.cuda.emit.prelude import helper

helper(
    "f32.f16",
    """
@float f32(f16 x) {
  float r;
  asm("cvt.f32.f16 %0, %1;" : "=f"(r) : "h"(x.bits));
  return r;
}""",
)
helper("f32.bf16", "@float f32(bf16 x) { return __uint_as_float((unsigned)x.bits << 16); }")
helper(
    "to_f16.float",
    """
@f16 to_f16(float x) {
  f16 r;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(r.bits) : "f"(x));
  return r;
}""",
)
helper(
    "to_f16.double",
    """
@f16 to_f16(double x) {
  f16 r;
  asm("cvt.rn.f16.f64 %0, %1;" : "=h"(r.bits) : "d"(x));
  return r;
}""",
)
helper(
    "to_f16.int",
    """
@f16 to_f16(int x) {
  f16 r;
  asm("cvt.rn.f16.s32 %0, %1;" : "=h"(r.bits) : "r"(x));
  return r;
}""",
)
helper(
    "to_f16.unsigned",
    """
@f16 to_f16(unsigned x) {
  f16 r;
  asm("cvt.rn.f16.u32 %0, %1;" : "=h"(r.bits) : "r"(x));
  return r;
}""",
)
helper(
    "to_f16.long_long",
    """
@f16 to_f16(long long x) {
  f16 r;
  asm("cvt.rn.f16.s64 %0, %1;" : "=h"(r.bits) : "l"(x));
  return r;
}""",
)
helper(
    "to_f16.unsigned_long_long",
    """
@f16 to_f16(unsigned long long x) {
  f16 r;
  asm("cvt.rn.f16.u64 %0, %1;" : "=h"(r.bits) : "l"(x));
  return r;
}""",
)

# Round to nearest even by adding half of the last kept bit; a NaN stays one.
helper(
    "to_bf16.float",
    """
@bf16 to_bf16(float x) {
  bf16 r;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(r.bits) : "f"(x));
  return r;
}""",
    feature="bf16",
    fallback="""
@bf16 to_bf16(float x) {
  const unsigned bits = __float_as_uint(x);
  if (x != x) return bf16{0x7fff};
  return bf16{(unsigned short)((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16)};
}""",
)

# A wider value goes through f32 rounded to odd (toward zero, the last bit set when inexact), so
# that the second rounding sees on which side of a tie it lies: Boldo and Melquiond, "When double
# rounding is odd", 2005.
helper(
    "to_bf16.double",
    """
@bf16 to_bf16(double x) {
  const float near = __double2float_rz(x);
  const bool exact = (double)near == x || x != x;
  return to_bf16(exact ? near : __uint_as_float(__float_as_uint(near) | 1u));
}""",
    "to_bf16.float",
)
helper("to_bf16.int", "@bf16 to_bf16(int x) { return to_bf16((double)x); }", "to_bf16.double")
helper("to_bf16.unsigned", "@bf16 to_bf16(unsigned x) { return to_bf16((double)x); }", "to_bf16.double")
helper(
    "to_bf16.long_long",
    """
@bf16 to_bf16(long long x) {
  const float near = __ll2float_rz(x);
  const bool exact = (long long)near == x;
  return to_bf16(exact ? near : __uint_as_float(__float_as_uint(near) | 1u));
}""",
    "to_bf16.float",
)
helper(
    "to_bf16.unsigned_long_long",
    """
@bf16 to_bf16(unsigned long long x) {
  const float near = __ull2float_rz(x);
  const bool exact = (unsigned long long)near == x;
  return to_bf16(exact ? near : __uint_as_float(__float_as_uint(near) | 1u));
}""",
    "to_bf16.float",
)

for name, ptx, less in (("max_nan", "max", ">"), ("min_nan", "min", "<")):
    sign = "& " if name == "max_nan" else "| "
    helper(
        f"{name}.float",
        f"""
@float {name}(float a, float b) {{
  float r;
  asm("{ptx}.NaN.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b));
  return r;
}}""",
        feature="min.nan",
        fallback=f"""
@float {name}(float a, float b) {{
  if (a != a || b != b) return __int_as_float(0x7fffffff);
  if (a == b) return __int_as_float(__float_as_int(a) {sign}__float_as_int(b));
  return a {less} b ? a : b;
}}""",
    )
    helper(
        f"{name}.double",
        f"""
@double {name}(double a, double b) {{
  if (a != a || b != b) return __longlong_as_double(0x7fffffffffffffffLL);
  if (a == b) return __longlong_as_double(__double_as_longlong(a) {sign}__double_as_longlong(b));
  return a {less} b ? a : b;
}}""",
    )
