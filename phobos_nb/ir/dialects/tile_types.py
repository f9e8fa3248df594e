"""The types and attributes of the dialect `tile`: global tensors and layouts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from xdsl.dialects.builtin import IntAttr, MemRefType
from xdsl.ir import Attribute, Data, ParametrizedAttribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer

from phobos_nb.ir.dialects.address_space import WORKGROUP


@irdl_attr_definition
class GlobalType(ParametrizedAttribute, TypeAttribute):
    """A tensor parameter in global memory: `!tile.global<f32, 2>`, element type and rank.

    Its extents are an attribute of the kernel; its strides appear only at thread level.
    """

    name = "tile.global"
    element_type: Attribute
    rank: IntAttr

    def __init__(self, element_type: Attribute, rank: int) -> None:
        super().__init__(element_type, IntAttr(rank))

    def print_parameters(self, printer: Printer) -> None:
        """Print `<f32, 2>`."""
        with printer.in_angle_brackets():
            printer.print_attribute(self.element_type)
            printer.print_string(f", {self.rank.data}")

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        """Parse `<f32, 2>`."""
        with parser.in_angle_brackets():
            element = parser.parse_type()
            parser.parse_punctuation(",")
            return [element, IntAttr(parser.parse_integer(allow_boolean=False, allow_negative=False))]


def shared_type(element: Attribute, shape: Sequence[int]) -> MemRefType[Attribute]:
    """The type of an author-managed shared array: a memref in the workgroup address space."""
    return MemRefType(element, shape, memory_space=WORKGROUP)


class Digit(NamedTuple):
    """One digit of the thread id, scaled: `(thread / divisor) % modulus * multiplier`."""

    divisor: int
    modulus: int
    multiplier: int


class AxisLayout(NamedTuple):
    """Where along one axis thread t holds elements: `sum(digits(t)) + slot` for each slot."""

    digits: tuple[Digit, ...]
    slots: tuple[int, ...]

    def base(self, thread: int) -> int:
        """The coordinate of slot offset zero for a thread."""
        return sum(thread // d.divisor % d.modulus * d.multiplier for d in self.digits)


@irdl_attr_definition
class LayoutAttr(Data[tuple[AxisLayout, ...]]):
    """How the threads of a CTA hold a tile, see "Layouts" in docs/architecture.md.

    Written `#tile.layout<[(8, 4, 4), (32, 4, 64)] + [0, 1, 2, 3] x [(1, 8, 1)] + [0]>`: per axis
    the digits (divisor, modulus, multiplier) and the slots. Thread t holds the elements whose
    coordinate on every axis is the sum of its digits there plus one of the slots.
    """

    name = "tile.layout"

    def print_parameter(self, printer: Printer) -> None:
        """Print the axes, separated by `x`."""
        texts = [
            f"[{', '.join(str(tuple(d)) for d in axis.digits)}] + {list(axis.slots)}"
            for axis in self.data
        ]
        printer.print_string(f"<{' x '.join(texts)}>")

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> tuple[AxisLayout, ...]:
        """Parse the axes, separated by `x`."""
        with parser.in_angle_brackets():
            axes = [cls._parse_axis(parser)]
            while parser.parse_optional_keyword("x"):
                axes.append(cls._parse_axis(parser))
        return tuple(axes)

    @classmethod
    def _parse_axis(cls, parser: AttrParser) -> AxisLayout:
        delimiter = parser.Delimiter.SQUARE
        digits = parser.parse_comma_separated_list(delimiter, lambda: cls._parse_digit(parser))
        parser.parse_punctuation("+")
        slots = parser.parse_comma_separated_list(delimiter, parser.parse_integer)
        return AxisLayout(tuple(digits), tuple(slots))

    @staticmethod
    def _parse_digit(parser: AttrParser) -> Digit:
        values = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_integer)
        if len(values) != 3:
            parser.raise_error(f"a digit is (divisor, modulus, multiplier), found {len(values)} numbers")
        return Digit(*values)
