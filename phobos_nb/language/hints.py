"""What words of other languages are called here, for the help of a diagnostic."""

from __future__ import annotations

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

CHARACTERS: Mapping[str, str] = {
    "#": "comments start with `//`",
    "?": "`where(condition, a, b)` chooses between values",
    "'": 'texts stand in double quotes: "..."',
    "$": "names are made of letters, digits and `_`",
    "`": "names are written without quotes",
}
"""A character that no token starts with -> help."""
