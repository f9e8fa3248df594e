"""The NumPy meaning of a typed kernel: the oracle, and how NumPy arrays are computed on the CPU."""

from phobos_nb.language.meaning.machine import Printed
from phobos_nb.language.meaning.run import MeaningResult, blocks, run

__all__ = ["MeaningResult", "Printed", "blocks", "run"]
