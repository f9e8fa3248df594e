"""Enumerations that upstream prints in angle brackets, such as `#nvvm.mma_layout<row>`."""

from __future__ import annotations

from typing import Any, ClassVar

from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.str_enum import StrEnum


class Bracketed:
    """To be named before `EnumAttribute[...]`, whose printing and parsing it puts in brackets."""

    enum_type: ClassVar[type[StrEnum]]
    data: Any

    def print_parameter(self, printer: Printer) -> None:
        """Print `<value>`."""
        with printer.in_angle_brackets():
            printer.print_string(self.data.value)

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Any:
        """Parse `<value>`."""
        with parser.in_angle_brackets():
            return parser.parse_str_enum(cls.enum_type)
