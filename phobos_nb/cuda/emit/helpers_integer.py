"""Helpers for integer divisions that C++ has no operator for."""

from __future__ import annotations

from phobos_nb.cuda.emit.prelude import helper

helper(
    "floor_div",
    """
template <class T> @T floor_div(T a, T b) {
  const T q = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}""",
)
helper(
    "ceil_div",
    """
template <class T> @T ceil_div(T a, T b) {
  const T q = a / b;
  return a % b != 0 && (a < 0) == (b < 0) ? q + 1 : q;
}""",
)
helper(
    "ceil_div_unsigned",
    "template <class T> @T ceil_div_unsigned(T a, T b) { return a == 0 ? 0 : (a - 1) / b + 1; }",
)
