"""What the printed integer code computes, found without a GPU.

The kernel's arguments are replaced by constants in the printed text; the compiler then folds the whole
kernel and the PTX stores plain numbers, which are compared with Python's own arithmetic.
"""

from __future__ import annotations

import re

import pytest

from phobos_nb import target
from phobos_nb.cuda import nvrtc
from phobos_nb.cuda.emit import emit

BITS = {"i8": 8, "i32": 32, "i64": 64, "index": 64}

PARAMETERS = re.compile(r"^kern\((?P<list>.*)\)$", re.M)
MOVE = re.compile(r"mov\.[bus]\d+\s+(%\w+), (-?\d+);")
STORE = re.compile(r"st\.global\.(?:v\d\.)?[bus]\d+\s+\[%\w+(?:\+(\d+))?\], (.*);")


def stored(module, values: dict[str, int], chip: str = "sm_80") -> dict[int, int]:
    """Element of the i64 tensor -> the number that the kernel stores there, given its arguments."""
    cuda = emit(module, target.get(chip))
    found = PARAMETERS.search(cuda.text)
    assert found is not None
    pointer, *scalars = found["list"].split(", ")
    lines = []
    for parameter in scalars:
        name = parameter.split()[-1]
        ctype = parameter.removesuffix(name).strip()
        value = values[name.removesuffix("_wide")]
        lines.append(f"{ctype} {name} = ({ctype.removeprefix('const ')}){value}LL;")
    text = PARAMETERS.sub(f"kern({pointer})", cuda.text)
    text = text.replace("\n{\n", "\n{\n" + "\n".join(lines) + "\n", 1)
    ptx = nvrtc.compile(text.replace("-9223372036854775808LL", "(-9223372036854775807LL - 1)"), chip).ptx
    known: dict[str, int] = {}
    answer: dict[int, int] = {}
    for line in ptx.splitlines():
        if move := MOVE.search(line):
            known[move[1]] = int(move[2])
        elif store := STORE.search(line):
            registers = store[2].strip("{} ").split(", ")
            for k, register in enumerate(registers):
                number = known[register] if register in known else int(register)
                answer[int(store[1] or 0) // 8 + k] = (number + 2**63) % 2**64 - 2**63
    return answer


def signed(value: int, bits: int) -> int:
    return (value + (1 << (bits - 1))) % (1 << bits) - (1 << (bits - 1))


def truncated(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def meaning(name: str, a: int, b: int, bits: int) -> int | None:
    """The operation on signed readings of that width; None where it means nothing."""
    ua, ub = a % (1 << bits), b % (1 << bits)
    if b == 0 and ("div" in name or "rem" in name):
        return None
    if name.startswith("sh") and not 0 <= b < bits:
        return None
    if name in ("divsi", "floordivsi", "ceildivsi", "remsi") and (a, b) == (-(1 << (bits - 1)), -1):
        return None
    value = {
        "addi": lambda: a + b,
        "subi": lambda: a - b,
        "muli": lambda: a * b,
        "divsi": lambda: truncated(a, b),
        "remsi": lambda: a - truncated(a, b) * b,
        "divui": lambda: ua // ub,
        "remui": lambda: ua % ub,
        "floordivsi": lambda: a // b,
        "ceildivsi": lambda: -(-a // b),
        "ceildivui": lambda: -(-ua // ub),
        "minsi": lambda: min(a, b),
        "maxsi": lambda: max(a, b),
        "minui": lambda: min(ua, ub),
        "maxui": lambda: max(ua, ub),
        "andi": lambda: a & b,
        "ori": lambda: a | b,
        "xori": lambda: a ^ b,
        "shli": lambda: a << b,
        "shrsi": lambda: a >> b,
        "shrui": lambda: ua >> b,
    }[name]()
    return signed(value, bits)


LIST = """
    addi subi muli divsi remsi divui remui floordivsi ceildivsi ceildivui minsi maxsi minui maxui andi
    ori xori shli shrsi shrui
    """
NAMES = LIST.split()

COMPARED = {
    "eq": lambda a, b, bits: a == b,
    "slt": lambda a, b, bits: a < b,
    "sge": lambda a, b, bits: a >= b,
    "ult": lambda a, b, bits: a % (1 << bits) < b % (1 << bits),
    "ule": lambda a, b, bits: a % (1 << bits) <= b % (1 << bits),
    "ugt": lambda a, b, bits: a % (1 << bits) > b % (1 << bits),
}


def _program(type: str, pairs: list[tuple[str, str]]) -> tuple[str, list[tuple[str, str, str]]]:
    """Every operation on every pair of values, each result stored as an i64; and what stands where."""
    lines, places = [], []
    for x, y in pairs:
        for name in (*NAMES, *COMPARED):
            k = len(places)
            test = name in COMPARED
            op = f"arith.cmpi {name}, %{x}, %{y}" if test else f"arith.{name} %{x}, %{y}"
            lines.append(f"%r{k} = {op} : {type}")
            result = f"%r{k}"
            if test:
                lines.append(f"%s{k} = arith.extui %r{k} : i1 to i64")
                result = f"%s{k}"
            elif type == "index":
                lines.append(f"%s{k} = arith.index_cast %r{k} : index to i64")
                result = f"%s{k}"
            elif type != "i64":
                lines.append(f"%s{k} = arith.extsi %r{k} : {type} to i64")
                result = f"%s{k}"
            lines.append(f"%p{k} = arith.constant {k} : index")
            lines.append(f"memref.store {result}, %out[%p{k}] : memref<?xi64>")
            places.append((name, x, y))
    return "\n".join(lines), places


def _check(found: dict[int, int], places, values: dict[str, int], bits: int) -> None:
    wrong = {}
    for k, (name, x, y) in enumerate(places):
        a, b = values[x], values[y]
        wanted = int(COMPARED[name](a, b, bits)) if name in COMPARED else meaning(name, a, b, bits)
        if wanted is not None and found.get(k) != wanted:
            wrong[name, a, b] = (wanted, found.get(k))
    assert wrong == {}


@pytest.mark.nvrtc
@pytest.mark.parametrize("type", BITS)
def test_operations_on_any_values(module, type):
    """Two's complement at the type's own width, with the extremes among the operands."""
    bits = BITS[type]
    top = (1 << (bits - 1)) - 1
    values = {"a": top, "b": -top - 1, "c": -3, "d": 7, "e": 1, "f": 100 if bits == 8 else 1000003}
    pairs = [
        ("a", "d"),
        ("b", "d"),
        ("c", "d"),
        ("d", "c"),
        ("f", "c"),
        ("b", "e"),
        ("a", "a"),
        ("f", "f"),
    ]
    body, places = _program(type, pairs)
    arguments = "%out: memref<?xi64>, " + ", ".join(f"%{n}: {type}" for n in values)
    _check(stored(module(arguments, body), values), places, values, bits)


@pytest.mark.nvrtc
@pytest.mark.parametrize("index_bits", [32, 64])
def test_narrowed_indices_mean_the_same(module, index_bits):
    """Values proven to fit 32 bits, negative ones among them, act as indices of the full width."""
    body, places = _program("index", [("x", "d"), ("d", "x"), ("x", "y"), ("y", "e"), ("n", "n")])
    first = "%x = arith.subi %d, %f : index\n%y = arith.subi %e, %d : index\n"
    arguments = "%out: memref<?xi64>, %d: index, %e: index, %f: index, %n: index"
    assumes = "d = 1000 : i64, e = 31 : i64, f = 2147480000 : i64, n = 2147483647 : i64"
    made = module(arguments, first + body, index_bits=index_bits, assumes=assumes)
    values = {"d": 7, "e": 3, "f": 2147470000, "n": 2147483647}
    values |= {"x": values["d"] - values["f"], "y": values["e"] - values["d"]}
    _check(stored(made, values), places, values, index_bits)


@pytest.mark.nvrtc
def test_an_offset_past_32_bits_is_not_cut(module):
    """Index 319 of a [320, 2560, 3072] tensor is at element 2508718080, not at -1786249216."""
    body = """
        %c319 = arith.constant 319 : index
        %plane = arith.muli %s0, %s1 : index
        %at = arith.muli %plane, %c319 : index
        %wide = arith.index_cast %at : index to i64
        %c0 = arith.constant 0 : index
        memref.store %wide, %out[%c0] : memref<?xi64>
        """
    bound = "s0 = 2147483647 : i64, s1 = 2147483647 : i64"
    made = module("%out: memref<?xi64>, %s0: index, %s1: index", body, assumes=bound)
    assert stored(made, {"s0": 2560, "s1": 3072}) == {0: 2508718080}


CASTS = (
    ("i8", "extsi", "i32", -5, -5),
    ("i8", "extui", "i32", -5, 251),
    ("i32", "extui", "i64", -1, 4294967295),
    ("i64", "trunci", "i32", 4294967301, 5),
    ("i32", "trunci", "i8", 383, 127),
    ("i32", "index_cast", "index", -7, -7),
    ("i32", "index_castui", "index", -7, 4294967289),
    ("index", "index_castui", "i32", 4294967295, -1),
)


@pytest.mark.nvrtc
@pytest.mark.parametrize(("source", "name", "result", "value", "wanted"), CASTS)
def test_casts(module, source, name, result, value, wanted):
    """Sign and zero extension and truncation between the integer types."""
    widen = {"index": "arith.index_cast", "i64": ""}.get(result, "arith.extsi")
    last = f"%w = {widen} %r : {result} to i64" if widen else ""
    body = f"""
        %r = arith.{name} %a : {source} to {result}
        {last}
        %c0 = arith.constant 0 : index
        memref.store {"%w" if widen else "%r"}, %out[%c0] : memref<?xi64>
        """
    assert stored(module(f"%out: memref<?xi64>, %a: {source}", body), {"a": value}) == {0: wanted}


LOOPS = (
    (0, 2147483647, 1073741824, 2),  # the counter would pass 2^31 on its way out
    (5, 5, 1, 0),
    (0, 10, 4, 3),
)


@pytest.mark.nvrtc
@pytest.mark.parametrize(("start", "stop", "step", "rounds"), LOOPS)
def test_a_loop_ends_where_its_counter_would_overflow(module, start, stop, step, rounds):
    """The number of rounds is ceil((stop - start) / step) up to the largest bound."""
    body = f"""
        %step = arith.constant {step} : index
        %c0 = arith.constant 0 : index
        %one = arith.constant 1 : i64
        %zero = arith.constant 0 : i64
        %n = scf.for %k = %start to %stop step %step iter_args(%x = %zero) -> (i64) {{
          %y = arith.addi %x, %one : i64
          scf.yield %y : i64
        }}
        memref.store %n, %out[%c0] : memref<?xi64>
        """
    bound = "start = 2147483647 : i64, stop = 2147483647 : i64"
    made = module("%out: memref<?xi64>, %start: index, %stop: index", body, assumes=bound)
    assert stored(made, {"start": start, "stop": stop}) == {0: rounds}


@pytest.mark.nvrtc
def test_yields_happen_all_at_once(module):
    """A loop that swaps its carried values (Fibonacci) keeps what an assignment would overwrite."""
    body = """
        %c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        %zero = arith.constant 0 : i64
        %one = arith.constant 1 : i64
        %p, %q = scf.for %k = %c0 to %n step %c1 iter_args(%a = %zero, %b = %one) -> (i64, i64) {
          %s = arith.addi %a, %b : i64
          scf.yield %b, %s : i64, i64
        }
        memref.store %p, %out[%c0] : memref<?xi64>
        memref.store %q, %out[%c1] : memref<?xi64>
        """
    made = module("%out: memref<?xi64>, %n: index", body, assumes="n = 100 : i64")
    assert stored(made, {"n": 10}) == {0: 55, 1: 89}


@pytest.mark.nvrtc
def test_a_while_loop_decides_in_the_middle(module):
    """The values of the deciding region go out when it says no: halve 40 until it is odd."""
    body = """
        %c0 = arith.constant 0 : index
        %one = arith.constant 1 : i64
        %r = "scf.while"(%n) ({
        ^bb0(%i: i64):
          %bit = arith.andi %i, %one : i64
          %zero = arith.constant 0 : i64
          %go = arith.cmpi eq, %bit, %zero : i64
          "scf.condition"(%go, %i) : (i1, i64) -> ()
        }, {
        ^bb1(%j: i64):
          %half = arith.shrsi %j, %one : i64
          "scf.yield"(%half) : (i64) -> ()
        }) : (i64) -> i64
        memref.store %r, %out[%c0] : memref<?xi64>
        """
    assert stored(module("%out: memref<?xi64>, %n: i64", body), {"n": 40}) == {0: 5}
