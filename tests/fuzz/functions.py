"""Calls of generated functions: by value, generic in types and extents, inlined."""

from __future__ import annotations

from dataclasses import replace

from tests.fuzz import rules
from tests.fuzz.context import Context, shapes_onto
from tests.fuzz.draw import Want, draw, option
from tests.fuzz.values import DTYPES, LANE, Shape, Unfit, Value


@option(1, lambda want: want.dtype != "index")
def call(ctx: Context, want: Want) -> Value:
    """A call of a new function."""
    if ctx.nested > 1 or len(ctx.functions) > 4:
        raise Unfit
    count = ctx.rng.randrange(1, 4)
    kinds = [want.dtype, *(ctx.pick(DTYPES) for _ in range(count - 1))]
    shapes = [want.shape, *(ctx.pick(shapes_onto(want.shape)) for _ in range(count - 1))]
    given = [draw(ctx, want.smaller(d, s)) for d, s in zip(kinds, shapes, strict=True)]
    name = ctx.fresh("f")
    parameters = [replace(v.named("abc"[k]), level=v.level) for k, v in enumerate(given)]
    writer = _Writer(ctx, want, parameters)
    result = writer.write(name)
    ctx.functions.append(writer.text)
    ctx.mark("fn", *writer.marks)
    text = f"{name}({', '.join(v.text for v in given)})"
    return replace(result, text=text, atom=True, constant=False)


class _Writer:
    """Writes one function and knows what its result is."""

    def __init__(self, ctx: Context, want: Want, parameters: list[Value]) -> None:
        self.ctx, self.want, self.parameters = ctx, want, parameters
        self.generics: dict[str, str] = {}
        self.marks: list[str] = []
        self.text = ""
        self.inferred = False

    def write(self, name: str) -> Value:
        """The result of a call; `text` holds the function."""
        signature = ", ".join(f"{p.text}: {self._type(p.dtype, p.shape)}" for p in self.parameters)
        self.inferred = True
        result_type = self._type(self.want.dtype, self.want.shape)
        generics = ", ".join(f"{n}: {k}" for n, k in self.generics.items())
        head = f"fn {name}{f'<{generics}>' if generics else ''}({signature}) -> {result_type}"
        with self.ctx.function_body(self.parameters) as body:
            result = self._body()
        if self.ctx.sealed:
            self.marks.append("fn:calls fn")
        self.text = "\n".join([head + " {", *body, "}"])
        return result

    def _type(self, dtype: str, shape: Shape) -> str:
        element = dtype
        if dtype == self.parameters[0].dtype and self._generic("T", "dtype"):
            element = "T"
        if not shape:
            return element
        dims = [self._dim(n) for n in shape]
        return f"tile<{element}>[{', '.join(dims)}]"

    def _dim(self, extent: int) -> str:
        return f"D{extent}" if self._generic(f"D{extent}", "int") else str(extent)

    def _generic(self, name: str, kind: str) -> bool:
        """Whether to write a compile-time parameter; the result's are those of the parameters."""
        if name not in self.generics and (self.inferred or self.ctx.chance(0.6)):
            return False
        self.generics[name] = kind
        self.marks.append(f"fn:generic {kind}")
        return True

    def _body(self) -> Value:
        ctx, want = self.ctx, self.want
        result = draw(ctx, self._inner())
        form = ctx.pick(["plain", "plain", "let", "if", "loop"])
        self.marks.append(f"fn:{form}")
        if form == "let":
            ctx.emit(f"let kept = {result.text}")
            ctx.emit("return kept")
            return result
        if form == "if":
            return self._early(result)
        if form == "loop" and not want.shape and not result.error:
            return self._loop(result)
        ctx.emit(f"return {result.text}")
        return result

    def _inner(self) -> Want:
        return Want(self.want.dtype, self.want.shape, min(self.want.depth, 2), self.want.level)

    def _early(self, result: Value) -> Value:
        """`if c { return a }` before the end, or a branch with an `else`."""
        ctx, want = self.ctx, self.want
        level = self.want.level if not want.shape else 0
        condition = draw(ctx, Want("bool", (), 1, level))
        other = draw(ctx, self._inner())
        ctx.emit(f"if {condition.text} {{")
        ctx.emit(f"  return {other.text}")
        if ctx.chance(0.4):
            ctx.emit("} else {")
            ctx.emit(f"  return {result.text}")
            ctx.emit("}")
        else:
            ctx.emit("}")
            ctx.emit(f"return {result.text}")
        joined = rules.either("", want.dtype, other, result)
        return replace(joined, level=max(joined.level, condition.level))

    def _loop(self, result: Value) -> Value:
        """A loop that returns from within."""
        ctx = self.ctx
        other = draw(ctx, self._inner())
        ctx.emit(f"for k in range({ctx.rng.randrange(1, 4)}) {{")
        ctx.emit(f"  if k == {ctx.rng.randrange(3)} {{")
        ctx.emit(f"    return {other.text}")
        ctx.emit("  }")
        ctx.emit("}")
        ctx.emit(f"return {result.text}")
        joined = rules.either("", self.want.dtype, other, result)
        return replace(joined, level=min(LANE, joined.level))
