"""A kernel as users hold it: callable, specialisable, compilable, simulatable."""

from __future__ import annotations

import hashlib
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast, overload

from phobos_nb.arguments.array import ArrayDescription
from phobos_nb.arguments.match import name_arguments, signature
from phobos_nb.arguments.options import take_options
from phobos_nb.arguments.variant import choose_variant
from phobos_nb.compilation import remembered, stages
from phobos_nb.compilation.call import Describe, SolvedCall, describe_host, host_values, on_device, solve
from phobos_nb.compilation.compilation import Compilation
from phobos_nb.compilation.configuration import Configuration, resolve
from phobos_nb.compilation.defaults import choose_constants
from phobos_nb.compilation.dispatch import Dispatch
from phobos_nb.compilation.generic import DtypeParameters
from phobos_nb.compilation.remembered import Identity
from phobos_nb.compilation.tile_shape import with_extents
from phobos_nb.contract import ScalarParameter, Variant
from phobos_nb.language.tree import Program
from phobos_nb.language.typed import TypedKernel
from phobos_nb.language.unparse import unparse
from phobos_nb.language.walk import has_asserts
from phobos_nb.lower.gemm_plan import OVERRIDES
from phobos_nb.options import CompileOptions, Setting, split_settings
from phobos_nb.source import Source
from phobos_nb.target import Target

if TYPE_CHECKING:
    from phobos_nb.compilation.profile import Profile
    from phobos_nb.compilation.reference import Reference
    from phobos_nb.cuda.device_plan import Prepared
    from phobos_nb.cuda.plan import Dispatcher
    from phobos_nb.simulate.difference import Differences
    from phobos_nb.simulate.records import SimulationResult
    from phobos_nb.tune.result import Tuning
    from phobos_nb.tune.shapes_result import ShapesTuning
    from phobos_nb.views.roofline_of import Roofline
    from phobos_nb.views.sliders_widget import SlidersWidget

LOG = logging.getLogger("phobos_nb")


class Kernel:
    """A kernel of a module. Call it with arrays and scalars in the order of its signature, or by name.

    NumPy arrays run on the CPU; CuPy, torch and any arrays with DLPack or the CUDA array interface
    run on their GPU, on the current stream. A call writes into its arrays and returns None.
    """

    def __init__(
        self, program: Program, name: str, options: CompileOptions, parse_seconds: float = 0.0
    ) -> None:
        self.name = self.__name__ = name
        self._front_end_times = {"parse": parse_seconds}
        self.options = options
        self._program = program
        self._typed: dict[tuple[tuple[str, int], ...], TypedKernel] = {}
        self._constants: dict[object, dict[str, int]] = {}
        self._dispatch: dict[tuple[str, str], Dispatch] = {}
        self._compilations: dict[tuple[object, ...], Compilation] = {}
        self._used: dict[str, int] = {}
        self._dispatcher: Dispatcher | None = None
        self._of_dtypes: dict[tuple[tuple[str, str], ...], Kernel] = {}
        self._generic = DtypeParameters(program, name, options)
        self.parameters = self.typed(options.constants).parameters
        shown = self.source.shown_name
        home = "a notebook cell" if shown == "cell" else shown
        self.__doc__ = f"{self.signature}\n\nA Phobos kernel of {home}."

    def __repr__(self) -> str:
        fixed = ", ".join(f"{k}={v}" for k, v in sorted(self.options.constants.items()))
        return f"<Phobos kernel {self.signature}{' with ' + fixed if fixed else ''}>"

    @property
    def source(self) -> Source:
        """The text the kernel comes from."""
        return self._program.source

    @property
    def program(self) -> Program:
        """The syntax tree of that text."""
        return self._program

    @property
    def dtypes(self) -> Mapping[str, str]:
        """A value for every dtype parameter."""
        return self._generic.dtypes

    @property
    def signature(self) -> str:
        """The kernel's name and parameters as the source writes them."""
        written = [self._generic.as_written(p) for p in self.parameters]
        types = [p.dtype if isinstance(p, ScalarParameter) else signature(p) for p in written]
        pairs = zip(self.parameters, types, strict=True)
        return f"{self.name}({', '.join(f'{p.name}: {t}' for p, t in pairs)})"

    # Calls ------------------------------------------------------------------------------------------

    def __call__(self, *arguments: Any, grid: Any = None, **named: Any) -> None:
        """Run the kernel; `grid` overrides the inferred grid (an int or up to three ints).

        Raises before anything runs: `TypeError` or `ValueError`, both `PhobosError`, that name the
        parameter, for dtypes, ranks, extents, promises, overlap, alignment, grid and limits.
        """
        dispatcher = self._dispatcher
        if dispatcher is not None and not named:
            path = dispatcher.paths.get(tuple(map(type, arguments)))
            if path is not None and path(arguments, grid):
                return
        if self._generic.open:
            self.for_call(arguments, named, "a call")(*arguments, grid=grid, **named)
            return
        values = self._by_name(arguments, named, "a call")
        if on_device(self, values):
            self._device()(tuple(values.values()), grid)
        else:
            self._host_call(values, grid)()

    def bind(self, *arguments: Any, grid: Any = None, **named: Any) -> Callable[[], None]:
        """The call with its arguments fixed and checked once: a function without arguments.

        It keeps the arrays alive and reads their contents anew each time. On the GPU it launches on
        the stream that is current when it is called, and can be captured in a CUDA graph.
        """
        if self._generic.open:
            return self.for_call(arguments, named, "`bind`").bind(*arguments, grid=grid, **named)
        values = self._by_name(arguments, named, "`bind`")
        if not on_device(self, values):
            return self._host_call(values, grid)
        from phobos_nb.cuda.bind import bound_call

        return bound_call(self._device(), tuple(values.values()), grid)

    def simulate(
        self, *arguments: Any, grid: Any = None, drop_barrier: int | None = None, **named: Any
    ) -> SimulationResult:
        """Run the compiled thread MLIR over NumPy lanes with the GPU's rules.

        Takes NumPy arrays, which stay as they are: results are in `outputs` of what it returns.
        drop_barrier: leave out a kept barrier, by number, to see the race that it prevents. The options
        of `phobos_nb.simulate.launch.simulate` (ctas, races, banks, trace, seed, stop_at_first, probe)
        are taken too, except those that are a parameter's name.
        """
        options = take_options(named, [p.name for p in self.parameters])
        if self._generic.open:
            kernel = self.for_call(arguments, named, "`simulate`")
            return kernel.simulate(*arguments, grid=grid, drop_barrier=drop_barrier, **options, **named)
        from phobos_nb.compilation.simulation import simulate_call

        values = self._by_name(arguments, named, "`simulate`")
        return simulate_call(self, values, grid, drop_barrier, options)

    def _by_name(
        self, arguments: Sequence[Any], named: Mapping[str, Any], taker: str = ""
    ) -> dict[str, Any]:
        known = self.name, self.parameters, arguments, named
        return name_arguments(*known, lambda: self.constant_names, taker)

    def compare(
        self,
        *arguments: Any,
        ref: Reference | None = None,
        tolerance: Any = None,
        grid: Any = None,
        drop_barrier: int | None = None,
        **named: Any,
    ) -> Differences:
        """Simulate a call and compare it: per wrong tensor the first wrong element and its cause.

        ref: the right outputs by parameter name, or a function of one dict, the arguments by name, that
        gives them and leaves those as they are, such as `lambda given: {"C": given["A"] @ given["B"]}`
        (it tells more: it is asked for other shapes too, to find the cause); of a kernel with one
        output the bare array will do; by default what the kernel means, run on the CPU.
        tolerance: the largest absolute error, a number or arrays by name. An empty list is agreement; a
        race or a fault that left all values right is a difference with `wrong` 0.
        Takes the options of `simulate` too.
        """
        from phobos_nb.compilation.comparison import compare_call

        own = take_options(named, [p.name for p in self.parameters])
        options = own | {"grid": grid, "drop_barrier": drop_barrier}
        values = self._by_name(arguments, named, "`compare`")
        return compare_call(self.for_some(values), values, ref, tolerance, options)

    def profile(
        self,
        *arguments: Any,
        grid: Any = None,
        report: str | Path | None = None,
        simulated: bool = True,
        **named: Any,
    ) -> Profile:
        """Run a call once under Nsight Compute; its counts per source line beside the simulator's.

        Another process launches, on copies. report: where ncu's report is kept, the kernel's text and
        its CUDA beside it. simulated: whether to simulate too. Raises PH608, PH609 as `cuda.ncu` does.
        """
        from phobos_nb.compilation.profile import profile

        if self._generic.open:
            options = {"grid": grid, "report": report, "simulated": simulated}
            return self.for_call(arguments, named, "`profile`").profile(*arguments, **options, **named)
        values = self._by_name(arguments, named, "`profile`")
        return profile(self, values, grid, report, simulated)

    def compiled_call(
        self,
        values: Mapping[str, Any],
        describe: Describe,
        grid: Any,
        configuration: Configuration,
        *,
        asserts: bool = False,
    ) -> tuple[SolvedCall, Compilation]:
        """A call with its arguments by name, checked, and what is compiled for it.

        asserts: whether those of the kernel, where it has any, are compiled in with debug's checks.
        """
        call = solve(self, values, describe, grid, configuration.target)
        compilation = self._compiled_for(call, configuration)
        if asserts and has_asserts(compilation.typed.body):
            compilation = self._compilation(replace(compilation.configuration, debug=True))
        return call, compilation

    def _host_call(self, values: Mapping[str, Any], grid: Any) -> Callable[[], None]:
        values = host_values(values)
        call = solve(self, values, describe_host, grid, resolve(self.options).target, remembered.CPU)
        arrays = {name: values[name] for name in call.arrays}

        def run() -> None:
            stages.run_meaning(call.typed, arrays, call.scalars, call.grid)

        run.__qualname__ = f"{self.name}.bind"
        return run

    def _device(self) -> Dispatcher:
        if self._dispatcher is None:
            from phobos_nb.cuda.plan import Dispatcher

            self._dispatcher = Dispatcher(self.parameters, self._prepare)
        return self._dispatcher

    def _prepare(
        self, arrays: Mapping[str, ArrayDescription], scalars: Mapping[str, Any], grid: Any
    ) -> Prepared:
        """Check a GPU call and compile for it; the current device is the arrays'."""
        from phobos_nb.cuda.device_plan import Code, Prepared
        from phobos_nb.cuda.driver import current_device
        from phobos_nb.cuda.identity import device_name

        configuration = resolve(self.options)
        values = {p.name: scalars.get(p.name, p.name) for p in self.parameters}
        device = device_name(current_device())
        call = solve(self, values, arrays.get, grid, configuration.target, device)
        dispatch = self._dispatch.get((device, configuration.target.name))
        compilation = self._compiled_for(call, configuration, dispatch)
        return Prepared(
            compilation.plan,
            tuple(
                Code(partial(getattr, x, "cubin"), partial(getattr, x, "ptx"))
                for x in compilation.launches
            ),
            call.extents,
            call.grid,
            call.in_place,
            synchronize=configuration.debug,
        )

    def _compiled_for(
        self, call: SolvedCall, configuration: Configuration, dispatch: Dispatch | None = None
    ) -> Compilation:
        variant = choose_variant(
            call.arrays, configuration.variant.index_bits, call.grid, call.typed.grid
        )
        if dispatch is not None:
            variant = dispatch.variant({**call.choices, **call.typed.constants}, variant)
        known = len(self._compilations)
        found = self._compilation(configuration.of_call(call.typed, call.choices, variant))
        if known and len(self._compilations) > known:
            LOG.info("%s: compiled once more, for %s", self.name, variant)
        return found

    # Compiling --------------------------------------------------------------------------------------

    def for_call(self, arguments: Sequence[Any], named: Mapping[str, Any], taker: str = "") -> Kernel:
        """The kernel with its open dtype parameters as the arrays of a call have them."""
        known = self._generic.seen(arguments) if not named else None
        if known is None:
            known = self._generic.infer(self._by_name(arguments, named, taker))
        return self._with_dtypes(known)

    def for_some(self, values: Mapping[str, Any]) -> Kernel:
        """The same for arrays and scalars by name, of which some may be missing."""
        return self._with_dtypes(self._generic.infer(values)) if self._generic.open else self

    def _with_dtypes(self, dtypes: Mapping[str, str]) -> Kernel:
        key = tuple(sorted(dtypes.items()))
        if not key:
            return self
        if key not in self._of_dtypes:
            self._of_dtypes[key] = self.specialize(**dtypes)
        return self._of_dtypes[key]

    def specialize(self, **constants: Setting) -> Kernel:
        """The kernel with values fixed for tuning names, generics and the compiler's own choices."""
        numbers, dtypes = split_settings(constants)
        options = replace(
            self.options,
            constants={**self.options.constants, **numbers},
            dtypes={**self.options.dtypes, **dtypes},
        )
        return Kernel(self._program, self.name, options, self._front_end_times["parse"])

    def of_program(self, program: Program) -> Kernel:
        """The kernel of that name in another program, with the same options."""
        return Kernel(program, self.name, self.options)

    def compile(
        self,
        *,
        chip: str | None = None,
        index_bits: int | None = None,
        debug: bool | None = None,
        drop_barrier: int | None = None,
        **constants: Setting,
    ) -> Compilation:
        """Compile for unit-stride, aligned arrays; names left open take their first values.

        chip: a target such as "sm_80", else PHOBOS_CHIP, else this GPU's, else sm_80. index_bits: 32
        or 64. debug: asserts and checks compiled in. drop_barrier: leave out a kept barrier, by number
        (it is lowered at once, so that a number it has not is refused here).
        """
        numbers, dtypes = split_settings(constants)
        mine = self.options
        options = CompileOptions(
            chip or mine.chip,
            index_bits if index_bits is not None else mine.index_bits,
            mine.debug if debug is None else debug,
            mine.drop_barrier if drop_barrier is None else drop_barrier,
            {**mine.constants, **numbers},
        )
        compilation = self._with_dtypes(dtypes)._compilation(resolve(options))
        if options.drop_barrier is not None:
            _ = compilation.barriers
        return compilation

    def compile_variant(self, variant: Variant, **constants: Setting) -> Compilation:
        """Compile for arrays of one variant, for instance ahead of calls with strided arrays."""
        numbers, dtypes = split_settings(constants)
        options = replace(self.options, constants={**self.options.constants, **numbers})
        return self._with_dtypes(dtypes)._compilation(replace(resolve(options), variant=variant))

    def _compilation(self, configuration: Configuration) -> Compilation:
        typed = self.typed(configuration.constants)
        full = replace(configuration, constants={**configuration.constants, **typed.constants})
        if full.key not in self._compilations:
            self._compilations[full.key] = Compilation(typed, full, self._front_end_times)
        return self._compilations[full.key]

    def typed(self, constants: Mapping[str, int]) -> TypedKernel:
        """The checked kernel for these constants, other tuning names at their first values."""
        key = tuple(sorted(constants.items()))
        if key not in self._typed:
            start = time.perf_counter()
            known = self._program, self.name, constants, self._generic.dtypes
            self._typed[key] = stages.check(*known, self.options.chip)
            self._front_end_times["check"] = time.perf_counter() - start
        return self._typed[key]

    def constants_for(
        self, extents: Mapping[str, int], target: Target, device: str = ""
    ) -> dict[str, int]:
        """What a call uses: tuned on that device, else by Note [Defaults], and what its extents give."""
        key = (tuple(extents.items()), target.name, device)
        if key not in self._constants:
            fixed = {**self.options.constants, **self._used}
            tuned, compiled = None, False
            if device and not self._used:
                identity = self.identity(extents, target, device)
                dispatch = self.remembered(identity)
                tuned = dispatch.choose(identity)
                compiled = tuned is not None and dispatch.is_compiled(tuned)
            chosen = fixed | (tuned or choose_constants(self.typed, fixed, extents, target))
            self._constants[key] = chosen if compiled else with_extents(self.typed, chosen, extents)
        return self._constants[key]

    def remembered(self, identity: Identity) -> Dispatch:
        """What calls on that device take; a dispatch table's members are compiled when it is read."""
        key = identity.device, identity.target
        if key not in self._dispatch:
            prepare = None if identity.device == remembered.CPU else self._make_ready
            self._dispatch[key] = Dispatch(identity, prepare)
        return self._dispatch[key]

    def _make_ready(self, constants: Mapping[str, int], variant: Variant) -> None:
        """Machine code for one configuration, kept for calls."""
        typed = self.typed({**self.options.constants, **constants})
        choices = {name: value for name, value in constants.items() if name in OVERRIDES}
        found = self._compilation(resolve(self.options).of_call(typed, choices, variant))
        for launch in found.launches:
            _ = launch.cubin

    # Tuning -----------------------------------------------------------------------------------------

    @overload
    def tune(self, *, shapes: Sequence[Any], **named: Any) -> ShapesTuning: ...
    @overload
    def tune(self, *arguments: Any, shapes: None = None, **named: Any) -> Tuning: ...
    def tune(self, *arguments: Any, **named: Any) -> Tuning | ShapesTuning:
        """Find the fastest constants for these arguments, measured, checked and remembered.

        Takes the call's arguments and the options of `phobos_nb.tune.settings.Settings` by name. With
        `shapes=[...]`, `weights=`, `max_configs=4` it finds a few constants for many calls.
        """
        import phobos_nb

        tune = cast("Callable[..., Tuning | ShapesTuning]", phobos_nb.autotune)
        return tune(self, *arguments, **named)

    def roofline(self, *arguments: Any, **named: Any) -> Roofline:
        """A call under the roofs of its card: counted work and bytes, and what binds it.

        Takes the call's arguments, or extents such as `M=4096`, and the options of `phobos_nb.roofline`.
        """
        import phobos_nb

        return phobos_nb.roofline(self, *arguments, **named)

    def interact(self, *arguments: Any, **named: Any) -> SlidersWidget:
        """A slider per constant: each move compiles anew and shows what changed.

        Takes the call's arguments, or extents such as `M=4096`, and the options of `phobos_nb.interact`.
        """
        import phobos_nb

        return phobos_nb.interact(self, *arguments, **named)

    def identity(self, extents: Mapping[str, int], target: Target, device: str) -> Identity:
        """What a tuning record of this kernel holds for. device: a GPU's product name, or "cpu"."""
        nvrtc = ""
        if device != remembered.CPU:
            from phobos_nb.cuda.identity import nvrtc_version

            nvrtc = nvrtc_version()
        bits = self.options.index_bits or target.default_index_bits
        return Identity(
            kernel=self.name,
            fingerprint=self.fingerprint,
            fixed=dict(self.options.constants),
            extents=dict(extents),
            dtypes={p.name: p.dtype for p in self.parameters},
            index_bits=bits,
            device=device,
            target=target.name if device != remembered.CPU else "",
            nvrtc=nvrtc,
        )

    @cached_property
    def fingerprint(self) -> str:
        """A hash of the program's meaning: comments, blank lines and layout do not change it."""
        return hashlib.sha256(unparse(self._program).encode()).hexdigest()

    @property
    def constant_names(self) -> frozenset[str]:
        """The names a caller may set: tuning names, generics, dims, the compiler's own choices."""
        return frozenset(
            name
            for node in self._program.kernels
            if node.name == self.name
            for name in stages.constant_names(node)
        )

    def use(self, **constants: int) -> None:
        """Let calls take these values, whatever was tuned; without any, what was tuned again.

        Raises `PhobosError` PH404 for a name that the kernel lacks, PH405 for what is no integer.
        """
        given: dict[str, Any] = dict(constants)
        if any(n not in self.constant_names or not isinstance(v, int) for n, v in given.items()):
            self.typed({**self.options.constants, **given})
        self._used = given
        self.choose_anew()

    def choose_anew(self) -> None:
        """Forget which constants calls use, because a tuning record has changed."""
        self._constants.clear()
        self._dispatch.clear()
        self._dispatcher = None
