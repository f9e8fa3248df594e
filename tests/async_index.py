"""Index arithmetic of kernels as text."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from tests.async_text import shared_view

_numbers = itertools.count()


class Index:
    """Text that grows by one operation per call; each returns the name of its value."""

    def __init__(self) -> None:
        self.text = ""

    def constant(self, value: int, type_: str = "index") -> str:
        """A number, which may be negative."""
        return self._define(f"arith.constant {value} : {type_}")

    def add(self, a: str, b: str) -> str:
        """The sum."""
        return self._define(f"arith.addi {a}, {b} : index")

    def multiply(self, a: str, b: str) -> str:
        """The product."""
        return self._define(f"arith.muli {a}, {b} : index")

    def divide(self, a: str, b: int) -> str:
        """The quotient of what is not negative."""
        return self._define(f"arith.divui {a}, {self.constant(b)} : index")

    def remainder(self, a: str, b: int) -> str:
        """The remainder of a / b of what is not negative."""
        return self._define(f"arith.remui {a}, {self.constant(b)} : index")

    def compare(self, how: str, a: str, b: str) -> str:
        """A condition."""
        return self._define(f"arith.cmpi {how}, {a}, {b} : index")

    def both(self, a: str, b: str) -> str:
        """Both conditions."""
        return self._define(f"arith.andi {a}, {b} : i1")

    def affine(self, constant: int, factor: int, value: str) -> str:
        """The constant and factor times the value."""
        return self.add(self.constant(constant), self.multiply(value, self.constant(factor)))

    def choose(self, which: str, values: list[int], type_: str = "index") -> str:
        """values[which]."""
        result = self.constant(values[0], type_)
        for k, value in enumerate(values[1:], 1):
            here = self.compare("eq", which, self.constant(k))
            other = self.constant(value, type_)
            result = self._define(f"arith.select {here}, {other}, {result} : {type_}")
        return result

    def line(self, text: str) -> None:
        """An operation without a result."""
        self.text += text if text.endswith("\n") else text + "\n"

    def view(self, shift: str, shape: Sequence[int], dtype: str, size: int) -> str:
        """A view of the `size` shared bytes."""
        name = f"v{next(_numbers)}"
        self.line(shared_view(name, shift, shape, dtype, size))
        return f"%{name}"

    def take(self) -> str:
        """The text so far, which begins anew."""
        text, self.text = self.text, ""
        return text

    def _define(self, text: str) -> str:
        name = f"%v{next(_numbers)}"
        self.text += f"{name} = {text}\n"
        return name
