"""What a kernel's author may have meant: its text with one slip of the hand undone, in every place.

A wrong kernel is nearly always one small change away from a right one: an index for another, `<` for
`<=`, a term left out, two operands exchanged. `slips` makes all of these changes; which of them gives
the right values is for an experiment to say.
"""

from phobos_nb.language.slips.everywhere import slips
from phobos_nb.language.slips.slip import Role, Slip

__all__ = ["Role", "Slip", "slips"]
