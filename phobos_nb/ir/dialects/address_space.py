"""The memory spaces of a GPU as memref types name them."""

from __future__ import annotations

from xdsl.dialects.utils import EnumAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.str_enum import StrEnum


class AddressSpace(StrEnum):
    """global: device memory; workgroup: shared memory of a CTA; private: one thread's own."""

    GLOBAL = "global"
    WORKGROUP = "workgroup"
    PRIVATE = "private"


@irdl_attr_definition
class AddressSpaceAttr(EnumAttribute[AddressSpace]):
    """`#gpu.address_space<workgroup>`, the memory space of a memref."""

    name = "gpu.address_space"

    def print_parameter(self, printer: Printer) -> None:
        """Print `<workgroup>`."""
        with printer.in_angle_brackets():
            printer.print_string(self.data.value)

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> AddressSpace:
        """Parse `<workgroup>`."""
        with parser.in_angle_brackets():
            return parser.parse_str_enum(AddressSpace)


WORKGROUP = AddressSpaceAttr(AddressSpace.WORKGROUP)
