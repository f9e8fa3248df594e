"""Colours for program text: each line becomes pieces of (kind, text).

Kinds are `k` keyword, `t` type, `n` number, `s` string, `c` comment, `f` operation or function and
"" for the rest. One regular expression per language; no state crosses lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

Piece = tuple[str, str]

NUMBER = r"(?P<n>(?<![\w.$%#])-?(?:0[xX][\da-fA-F_]+|\d[\d_]*\.?\d*(?:[eE][-+]?\d+)?)\b)"
STRING = r'(?P<s>"(?:[^"\\]|\\.)*")'
LINE_COMMENT = r"(?P<c>//.*$)"


def _words(words: str) -> str:
    return rf"(?<![\w.$%@#])(?:{'|'.join(words.split())})(?![\w$])"


KEYWORDS = "kernel fn let var if else for in while break continue return assert true false"
CPP_KEYWORDS = "if else for while do return break continue const extern static volatile struct"
PHOBOS = [
    LINE_COMMENT,
    STRING,
    r"(?P<f>@\w+)",
    rf"(?P<k>{_words(KEYWORDS)})",
    rf"(?P<t>{_words('tensor tile shared f16 bf16 f32 f64 i8 u8 i32 i64 bool index dtype int')})",
    r"(?P<b>\b\w+(?=\())",
    NUMBER,
]
MLIR = [
    LINE_COMMENT,
    STRING,
    r"(?P<t>\b(?:memref|vector|tensor)<[^>]*>|\b(?:index|bf16|[fi]\d+)\b)",
    r"(?P<f>\b[a-z_]+\.[a-z_][\w.]*)",
    rf"(?P<k>{_words('module func return step to iter_args else attributes')})",
    NUMBER,
]
CUDA = [
    LINE_COMMENT,
    STRING,
    r"(?P<f>\b(?:asm|__\w+)\b)",
    rf"(?P<k>{_words(CPP_KEYWORDS)})",
    r"(?P<t>\b(?:void|bool|float|double|char|short|int|long|unsigned|signed|[us]?int\d+_t|size_t)\b)",
    NUMBER,
]
PTX = [
    LINE_COMMENT,
    STRING,
    r"(?P<f>(?<=^)\s*(?:@!?%\w+\s+)?[a-z]\w*(?:\.\w+)*(?=\s))",
    r"(?P<k>(?<![\w.])\.[a-z]\w*)",
    NUMBER,
]
SASS = [
    r"(?P<c>^[0-9a-f]{4,}(?=  ))",
    r"(?P<f>\b(?!U?R\d|U?P\d|SR_|U?RZ|PT|SB\d)[A-Z][A-Z0-9]+(?:\.[A-Z0-9_]+)*\b)",
    r"(?P<k>(?<!\w)\.[a-zA-Z]\w*)",
    NUMBER,
]
LANGUAGES = {"phobos": PHOBOS, "mlir": MLIR, "cuda": CUDA, "ptx": PTX, "sass": SASS}
KIND = {"b": "f"}


@cache
def _pattern(language: str) -> re.Pattern[str]:
    return re.compile("|".join(LANGUAGES[language]))


def pieces(text: str, language: str) -> Iterator[Piece]:
    """The pieces of one line; joined, their texts are the line."""
    end = 0
    for match in _pattern(language).finditer(text):
        if match.start() > end:
            yield "", text[end : match.start()]
        group = match.lastgroup or ""
        yield KIND.get(group, group), match[0]
        end = match.end()
    if end < len(text):
        yield "", text[end:]
