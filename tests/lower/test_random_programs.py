"""Random per-thread programs: nested loops and branches left in every way, compiled and simulated."""

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import phobos_nb as ph
from tests.lower.tile_interpreter import Interpreter

NAMES = ("a", "b", "c")


def indented(lines):
    return [f"  {line}" for line in lines]


atoms = st.sampled_from([*NAMES, "t", "i0", "i1", "1", "3", "(0 - 2)"])


@st.composite
def expressions(draw, depth, loops):
    """An i32 expression of variables in scope; divisions only by constants."""
    if depth == 0:
        atom = draw(atoms)
        return f"i32({atom})" if atom[0] != "i" or int(atom[1]) < loops else "i32(5)"
    left, right = (draw(expressions(depth - 1, loops)) for _ in range(2))
    op = draw(st.sampled_from(["+", "-", "*", "&", "^", "/", "%", "max"]))
    if op == "max":
        return f"max({left}, {right})"
    return f"({left} {op} {'i32(7)' if op in '/%' else right})"


@st.composite
def conditions(draw, loops):
    left, right = (draw(expressions(1, loops)) for _ in range(2))
    one = f"{left} {draw(st.sampled_from(['<', '==', '>=', '!=']))} {right}"
    if draw(st.booleans()):
        return one
    joined = draw(st.sampled_from(["&&", "||"]))
    return f"({one}) {joined} !({draw(expressions(0, loops))} > {draw(expressions(0, loops))})"


@st.composite
def blocks(draw, depth, loops):
    """The lines of a block; `loops` is how many loops are around it."""
    lines = []
    for _ in range(draw(st.integers(1, 3))):
        lines += draw(statements(depth, loops))
    return lines


@st.composite
def statements(draw, depth, loops):
    kinds = ["set", "set"]
    if depth:
        kinds += ["if", "if else"] + (["for", "down", "while"] if loops < 2 else [])
    if depth < 3:
        kinds += ["return"] + (["break", "continue"] if loops else [])
    kind = draw(st.sampled_from(kinds))
    name = draw(st.sampled_from(NAMES))
    if kind == "set":
        op = draw(st.sampled_from(["=", "+=", "-=", "^="]))
        return [f"{name} {op} {draw(expressions(2, loops))}"]
    if kind in ("break", "continue"):
        return [f"if {draw(conditions(loops))} {{ {kind} }}"]
    if kind == "return":
        return [f"if {draw(conditions(loops))} {{", "  Y[0, t] = a", "  return", "}"]
    body = indented(draw(blocks(depth - 1, loops + (kind in ("for", "down", "while")))))
    if kind == "if":
        return [f"if {draw(conditions(loops))} {{", *body, "}"]
    if kind == "if else":
        other = indented(draw(blocks(depth - 1, loops)))
        return [f"if {draw(conditions(loops))} {{", *body, "} else {", *other, "}"]
    stop = draw(st.sampled_from(["4", "t % 5", "a & 3"]))
    if kind == "for":
        return [f"for i{loops} in range(0, {stop}) {{", *body, "}"]
    if kind == "down":
        return [f"for i{loops} in range({stop}, -2, -2) {{", *body, "}"]
    counter = f"n{loops}"
    test = f"{counter} < 4 && ({draw(conditions(loops))})"
    block = [
        f"var {counter} = 0",
        f"while {test} {{",
        f"  let i{loops} = {counter}",
        f"  {counter} += 1",
    ]
    return ["if true {", *indented([*block, *body, "}"]), "}"]


@st.composite
def programs(draw):
    body = indented(draw(blocks(3, 0)))
    start = [f"  var {name} = i32({k})" for k, name in enumerate(NAMES)]
    end = [f"  Y[{k}, t] = {name}" for k, name in enumerate(NAMES)]
    head = ["@launch(32)", "kernel k(Y: tensor<i32>[3, N]) {", "  let t = ctx.thread"]
    return "\n".join([*head, *start, *body, *end, "}"])


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(programs())
def test_random_programs(text):
    """Meaning, tile MLIR and simulated thread MLIR leave the same numbers."""
    kernel = next(iter(ph.compile(text)))
    results = [np.full((3, 32), -1, np.int32) for _ in range(2)]
    kernel(results[0], grid=1)
    module = kernel.compile().tile_module
    module.verify()
    Interpreter(module.body.block.first_op).run({"Y": results[1]}, {}, (1, 1, 1))
    np.testing.assert_array_equal(results[1], results[0])
    simulated = kernel.simulate(np.full((3, 32), -1, np.int32), grid=1)
    np.testing.assert_array_equal(simulated.outputs["Y"], results[0])
