"""Positions with a meaning of their own that a step may return instead of the next one."""

END = -1
"""The strand is done."""
BLOCKED = -2
"""The strand waits; it has noted where to go on."""
SPLIT = -3
"""The strand is replaced by others, which it has added to the machine."""
