"""Garbled texts: whatever is written, the answer is a kernel or diagnostics, soon.

usage: python -m tests.fuzz.text [--count 100000] [--seed S] [--workers W]

Texts are the examples and generated programs with tokens and bytes dropped, doubled, exchanged and
replaced. Every tenth text that is a kernel all the same is lowered too. A Python error other than
`PhobosError`, or more than LIMIT seconds, is a failure.
"""

from __future__ import annotations

import argparse
import random
import re
import signal
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from phobos_nb import attributes, builtins
from phobos_nb.compilation.module import module_of
from phobos_nb.diagnostics import PhobosError
from phobos_nb.language.frontend import check, parse
from phobos_nb.options import CompileOptions
from phobos_nb.source import Source
from tests.fuzz.generate import generate

LIMIT = 10
"""Seconds after which a text counts as hanging."""
EXAMPLES = Path(__file__).parents[2] / "examples"
TOKEN = re.compile(r"\s+|\w+|//[^\n]*|.", re.DOTALL)
_SPACED = r"""
kernel fn let var if else for in while break continue return assert true false range until
tensor tile shared f16 bf16 f32 f64 i8 u8 i32 i64 bool index dtype int pad extent print
ctx ctx.block.x ctx.thread dot exp rowsum transpose iota barrier() shuffle where inf nan
:+ :: : , ; ( ) [ ] { } < > << >> <= >= == != && || & | ^ ! ~ + - * / % = += @ @launch
0 1 -1 2 9999999999999999999 0x 0xff 1e400 1.5 7. .5 1_000 1__0 "text{}" "{" " \ # $ ? // /* */ --
"""
WORDS = (*_SPACED.split(), "\t", "\n", "\r\n", "\u00e9", "\u03bb", "\U0001f600", "\x00", "\ufeff")

NUMBERS = ("0", "1", "2", "3", "4", "7", "8", "16", "31", "32", "64", "1024", "1_000_000", "0xffffffff")
TYPES = ("f16", "bf16", "f32", "f64", "i8", "u8", "i32", "i64", "bool")
OPERATORS = (*("+", "-", "*", "/", "%", "&", "|", "^", "<", ">", "=", "!", "~"), ":", ",", ".")


@dataclass(frozen=True)
class Outcome:
    """What a text gave: kernel, or the codes of its diagnostics; `problem` where it went wrong."""

    codes: tuple[str, ...]
    problem: str = ""


@cache
def texts() -> tuple[str, ...]:
    """The texts that are garbled."""
    examples = [path.read_text("utf-8") for path in sorted(EXAMPLES.glob("*.ph"))]
    return (*examples, *(generate(seed).text for seed in range(60)))


def garbled(seed: int) -> str:
    """A text of a seed."""
    rng = random.Random(seed)
    text = rng.choice(texts())
    if rng.random() < 0.25:
        return _by_bytes(rng, text)
    tokens = TOKEN.findall(text)
    for _ in range(rng.choice([1, 1, 1, 2, 3, 8])):
        rng.choice(EDITS)(rng, tokens)
    return "".join(tokens)


def _by_bytes(rng: random.Random, text: str) -> str:
    data = bytearray(text.encode())
    for _ in range(rng.choice([1, 2, 5, 20])):
        position = rng.randrange(len(data))
        how = rng.randrange(3)
        if how == 0:
            data[position] = rng.randrange(256)
        elif how == 1:
            del data[position : position + rng.choice([1, 2, 30])]
        else:
            data[position:position] = bytes(rng.randrange(256) for _ in range(rng.choice([1, 4])))
        data = data or bytearray(b"x")
    return data.decode("utf-8", rng.choice(["replace", "ignore", "surrogateescape"]))


def _drop(rng: random.Random, tokens: list[str]) -> None:
    del tokens[rng.randrange(len(tokens))]


def _replace(rng: random.Random, tokens: list[str]) -> None:
    tokens[rng.randrange(len(tokens))] = rng.choice(WORDS)


def _insert(rng: random.Random, tokens: list[str]) -> None:
    tokens.insert(rng.randrange(len(tokens)), rng.choice(WORDS))


def _exchange(rng: random.Random, tokens: list[str]) -> None:
    first, second = rng.randrange(len(tokens)), rng.randrange(len(tokens))
    tokens[first], tokens[second] = tokens[second], tokens[first]


def _double(rng: random.Random, tokens: list[str]) -> None:
    start = rng.randrange(len(tokens))
    tokens[start:start] = tokens[start : start + rng.choice([1, 2, 10, 60])]


def _cut(rng: random.Random, tokens: list[str]) -> None:
    start = rng.randrange(len(tokens))
    if len(tokens) > 2:
        del tokens[start : start + rng.choice([2, 5, 20])]
    tokens = tokens or ["x"]


def _nest(rng: random.Random, tokens: list[str]) -> None:
    opening, closing = rng.choice(
        [("(", ")"), ("[", "]"), ("{", "}"), ("-", ""), ("!", ""), ("if true {", "}")]
    )
    depth = rng.choice([3, 50, 3000])
    tokens.insert(rng.randrange(len(tokens)), opening * depth + "1" + closing * depth)


def _like(rng: random.Random, tokens: list[str]) -> None:
    """A token becomes another of its kind: a number, a type, an operator, a built-in."""
    kinds = (NUMBERS, TYPES, OPERATORS, tuple(builtins.table()))
    places = [(i, kind) for i, t in enumerate(tokens) for kind in kinds if t in kind]
    if places:
        place, kind = rng.choice(places)
        tokens[place] = rng.choice(kind)


def _rename(rng: random.Random, tokens: list[str]) -> None:
    """One name becomes another of the text, everywhere or once."""
    names = [t for t in tokens if t[0].isalpha()]
    if len(names) < 2:
        return
    old, new = rng.choice(names), rng.choice(names)
    if rng.random() < 0.5:
        tokens[tokens.index(old)] = new
    else:
        tokens[:] = [new if t == old else t for t in tokens]


EDITS: tuple[Callable[[random.Random, list[str]], None], ...] = (
    *(_drop, _replace, _insert, _exchange, _double, _cut, _nest),
    *(_like, _like, _like, _like, _like, _rename, _rename, _rename),
)


def outcome(text: str, *, lowered: bool = False) -> Outcome:
    """Parse and check every kernel of a text, and on request lower those that pass."""
    signal.signal(signal.SIGALRM, _too_long)
    signal.alarm(LIMIT)
    try:
        program = parse(Source(text, "garbled.ph"))
        for kernel in program.kernels:
            check(program, kernel.name, {}, builtins.table(), attributes.table())
        if lowered:
            _lower(text)
    except PhobosError as error:
        codes = tuple(d.code for d in error.diagnostics)
        return Outcome(codes, _report_problem(error))
    except Exception as error:
        frame = traceback.extract_tb(error.__traceback__)[-1]
        return Outcome(
            (), f"{type(error).__name__} at {Path(frame.filename).name}:{frame.name}: {error}"
        )
    finally:
        signal.alarm(0)
    return Outcome(("kernel",))


def _lower(text: str) -> None:
    module = module_of(Source(text, "garbled.ph"), CompileOptions("sm_80"))
    for kernel in module:
        _ = kernel.compile().thread_module


def _report_problem(error: PhobosError) -> str:
    """Printing the diagnostics is part of the answer."""
    try:
        return "" if str(error) else "an empty report"
    except Exception as broken:
        return f"the report itself: {type(broken).__name__}: {broken}"


def _too_long(*_: object) -> None:
    raise TimeoutError(f"more than {LIMIT} seconds")


def run_seed(seed: int) -> tuple[int, Outcome]:
    """The outcome of one seed."""
    return seed, outcome(garbled(seed), lowered=seed % 10 == 0)


def main() -> int:
    """Run and report."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=2)
    parsed = parser.parse_args()
    start, codes, problems = time.perf_counter(), Counter[str](), Counter[str]()
    seeds = range(parsed.seed, parsed.seed + parsed.count)
    with ProcessPoolExecutor(parsed.workers) as pool:
        for seed, found in pool.map(run_seed, seeds, chunksize=100):
            codes.update(set(found.codes))
            if found.problem:
                key = found.problem[:80]
                problems[key] += 1
                if problems[key] == 1:
                    print(f"seed {seed}: {found.problem}", flush=True)
    print(f"{parsed.count} texts in {time.perf_counter() - start:.0f} s: {dict(codes.most_common())}")
    for problem, number in problems.most_common():
        print(f"{number:7d} {problem}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
