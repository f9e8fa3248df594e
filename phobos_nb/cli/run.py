"""`phobos-nb run` and `phobos-nb simulate`: a kernel on made or loaded arrays."""

from __future__ import annotations

import argparse
import time
from collections.abc import Mapping
from typing import Any

from phobos_nb.cli.options import Commands, add_source, add_target, kernels, made_arguments
from phobos_nb.compilation.kernel import Kernel
from phobos_nb.contract import TensorParameter


def register(commands: Commands) -> None:
    """Add both commands."""
    for name, action, help in (
        ("run", run, "run a kernel on the CPU or the GPU"),
        ("simulate", simulate, "run a kernel in the simulator and report what it saw"),
    ):
        parser = commands.add_parser(name, help=help)
        add_source(parser)
        add_target(parser)
        parser.add_argument(
            "values", nargs="*", type=argument, metavar="NAME=VALUE",
            help="extents and scalars by value (M=128 alpha=0.5), arrays as .npy files (A=a.npy)",
        )  # fmt: skip
        parser.add_argument(
            "--grid", type=int, nargs="+", metavar="N", help="the grid, where it is not inferred"
        )
        parser.add_argument("--seed", type=int, default=0, help="of the random arrays (default: 0)")
        parser.add_argument("--save", metavar="PREFIX", help="save outputs as PREFIX<name>.npy")
        if name == "run":
            parser.add_argument("--gpu", action="store_true", help="on the GPU, checked against the CPU")
        parser.set_defaults(run=action)


def argument(text: str) -> tuple[str, Any]:
    """NAME=VALUE: an integer, a float, or the path of a .npy file."""
    name, equals, value = text.partition("=")
    if not equals or not name.isidentifier():
        raise argparse.ArgumentTypeError(f"wanted NAME=VALUE, got {text!r}")
    if value.endswith(".npy"):
        import numpy as np

        return name, np.load(value, allow_pickle=False)
    try:
        return name, int(value, 0)
    except ValueError:
        pass
    try:
        return name, float(value)
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"{name}: neither a number nor a .npy file: {value!r}"
        ) from None


def run(parsed: argparse.Namespace) -> int:
    """Run once and describe the outputs."""
    kernel, values = _prepare(parsed)
    start = time.perf_counter()
    if parsed.gpu:
        outputs = _run_on_gpu(kernel, values, parsed.grid)
    else:
        kernel(grid=_grid(parsed), **values)
        outputs = {name: values[name] for name in _written(kernel)}
    seconds = time.perf_counter() - start
    print(f"{kernel.signature}: {'GPU' if parsed.gpu else 'CPU'}, {seconds:.3f} s with compiling")
    _describe(outputs, parsed.save)
    return 0


def simulate(parsed: argparse.Namespace) -> int:
    """Simulate once, compare with the NumPy meaning, report; 1 when something was found."""
    import numpy as np

    kernel, values = _prepare(parsed)
    result = kernel.simulate(grid=_grid(parsed), **values)
    print(f"{kernel.signature}: {result!r}")
    _describe(result.outputs, parsed.save)
    kernel(grid=_grid(parsed), **values)
    worst = {n: difference(result.outputs[n], values[n]) for n in _written(kernel)}
    for name, value in worst.items():
        print(f"{name}: largest difference from the NumPy meaning {value:.3g}")
    return int(not result.clean or any(np.isnan(v) for v in worst.values()))


def difference(one: Any, other: Any) -> float:
    """The largest absolute difference; equal infinities and NaNs in one place count as equal."""
    import numpy as np

    if one.size == 0:
        return 0.0
    a, b = one.astype(np.float64), other.astype(np.float64)
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    return float(np.max(np.where(same, 0.0, np.abs(a - b))))


def _prepare(parsed: argparse.Namespace) -> tuple[Kernel, dict[str, Any]]:
    import numpy as np

    given = dict(parsed.values)
    kernel = kernels(parsed)[0].for_some(given)
    rng = np.random.default_rng(parsed.seed)
    return kernel, made_arguments(kernel, given, rng)


def _grid(parsed: argparse.Namespace) -> tuple[int, ...] | None:
    return tuple(parsed.grid) if parsed.grid else None


def _written(kernel: Kernel) -> list[str]:
    return [p.name for p in kernel.parameters if isinstance(p, TensorParameter) and p.writes]


def _run_on_gpu(kernel: Kernel, values: dict[str, Any], grid: Any) -> dict[str, Any]:
    from phobos_nb.cuda.arrays import to_device, to_host

    device = {n: to_device(v) if hasattr(v, "dtype") else v for n, v in values.items()}
    kernel(grid=tuple(grid) if grid else None, **device)
    outputs = {name: to_host(device[name]) for name in _written(kernel)}
    kernel(grid=tuple(grid) if grid else None, **values)
    for name, output in outputs.items():
        print(
            f"{name}: largest difference from the NumPy meaning {difference(output, values[name]):.3g}"
        )
    return outputs


def _describe(outputs: Mapping[str, Any], prefix: str | None) -> None:
    import numpy as np

    for name, array in outputs.items():
        wide = array.astype(np.float64)
        figures = (
            f"min {wide.min():.6g}, max {wide.max():.6g}, mean {wide.mean():.6g}"
            if array.size
            else "empty"
        )
        print(f"{name}: {array.dtype}{list(array.shape)}, {figures}")
        if prefix is not None:
            np.save(f"{prefix}{name}.npy", array)
