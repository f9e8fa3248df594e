"""What words of other languages are called here, for the help of a diagnostic."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping

FOREIGN: Mapping[str, str] = {
    "and": "write `&&`",
    "or": "write `||`",
    "not": "write `!`",
    "elif": "write `else if`",
    "elseif": "write `else if`",
    "def": "functions start with `fn`, kernels with `kernel`",
    "func": "functions start with `fn`",
    "function": "functions start with `fn`",
    "const": "declare it with `let`",
    "auto": "declare it with `let` or `var`",
    "mut": "what changes is declared with `var`",
    "True": "write `true`",
    "False": "write `false`",
    "float": "the 32-bit float is `f32`",
    "float16": "the 16-bit float is `f16`",
    "float32": "the 32-bit float is `f32`",
    "float64": "the 64-bit float is `f64`",
    "bfloat16": "it is called `bf16`",
    "half": "the 16-bit float is `f16`",
    "double": "the 64-bit float is `f64`",
    "int": "the 32-bit integer is `i32`",
    "int8": "it is called `i8`",
    "int32": "it is called `i32`",
    "int64": "it is called `i64`",
    "uint8": "it is called `u8`",
    "long": "the 64-bit integer is `i64`",
    "void": "kernels start with `kernel` and yield nothing",
    "__global__": "kernels start with `kernel`: `kernel name(A: tensor<f32>[N]) { ... }`",
    "__device__": "functions start with `fn`: `fn name(x: f32) -> f32 { ... }`",
    "__shared__": "write `var s: shared<f32>[256]`",
    "pass": "an empty block is `{ }`",
    "zeros": "a scalar fills a tile: `var t: tile<f32>[64, 64] = 0.0`",
    "ones": "a scalar fills a tile: `var t: tile<f32>[64, 64] = 1.0`",
    "full": "a scalar fills a tile: `var t: tile<f32>[64, 64] = 0.0`",
    "arange": "write `iota(n)`",
    "atomicAdd": "write `atomic_add(A, i, value)`",
    "u32": "the integers are `i8 u8 i32 i64`",
    "threadIdx": "the thread of the CTA is `ctx.thread`",
    "blockIdx": "the block is `ctx.block.x`",
    "blockDim": "the threads of a CTA are what `@launch` says, 256 without it",
    "gridDim": "the grid is `ctx.blocks.x`",
    "syncthreads": "write `barrier()`",
    "__syncthreads": "write `barrier()`",
    "printf": 'write `print("text {}", value)`',
    "fabs": "write `abs`",
    "expf": "write `exp`",
    "sqrtf": "write `sqrt`",
    "fmaxf": "write `max`",
    "fmax": "write `max`",
    "fmin": "write `min`",
    "maximum": "write `tmax`",
    "minimum": "write `tmin`",
    "matmul": "write `dot(a, b)`",
    "sum": "write `rowsum` or `colsum`",
    "size": "the extent of an axis is its name, or `extent(A, axis)`",
    "len": "the extent of an axis is its name, or `extent(A, axis)`",
}
"""Word -> help."""

_TYPED = {
    **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2212\uff0d", "-"),
    **dict.fromkeys("\u00d7\u22c5\u2217\u00b7", "*"),
    **dict.fromkeys("\u00f7\u2215\u2044", "/"),
    "\u2264": "<=",
    "\u2265": ">=",
    "\u2260": "!=",
    "\u2192": "->",
    "\u2227": "&&",
    "\u2228": "||",
    "\u00ac": "!",
    "\uff08": "(",
    "\uff09": ")",
    "\uff0c": ",",
    "\uff1a": ":",
    "\uff1b": ";",
}
"""A character of documents -> the operator that it looks like."""

CHARACTERS: Mapping[str, str] = {
    "#": "comments start with `//`",
    "?": "`where(condition, a, b)` chooses between values",
    "'": 'texts stand in double quotes: "..."',
    "$": "names are made of letters, digits and `_`",
    "`": "names are written without quotes",
    **dict.fromkeys("\u2018\u2019\u201c\u201d\u00ab\u00bb", 'texts stand in straight quotes: "..."'),
    **{char: f"write `{meant}`" for char, meant in _TYPED.items()},
}
"""A character that no token starts with -> help."""

_UNSEEN = {
    "Zs": "write a space",
    "Zl": "end the line there",
    "Zp": "end the line there",
}


def unseen_help(char: str) -> str:
    """What to put in the place of a character that does not print: what it stood for, if anything."""
    return _UNSEEN.get(unicodedata.category(char), "delete it")


def continued(operator: str) -> str:
    """The help for a line that starts with an operator and was meant to go on with the one above."""
    return f"a newline ends a statement: put the `{operator}` at the end of the line above"
