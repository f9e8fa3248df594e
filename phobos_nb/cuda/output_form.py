"""The buffer that kernels write what they print into, as printed code and the host both know it.

Note [Device output]
A kernel that prints has a buffer of 64-bit words in its module, `ph_output`: a counter of records, then
the records. A record is the CTA's linear number, the thread, 1 + the number of the place that printed
(`LaunchContract.outputs`) and one word per value: f64 bits, or an integer. The order of tickets is the
order of the prints of one thread. A print that finds no room is only counted; a failed assertion then
takes the last record, which prints never use.
"""

RECORDS = 4096
"""Records that a buffer holds for whatever comes first; one more is kept for a failed assertion."""

HEAD = 3
"""Words of a record before its values: CTA, thread, 1 + place."""

SYMBOL = "ph_output"
"""The buffer's name in the module."""
