"""A bounded pool of asynchronous OpenVINO infer requests: the only place where inference happens.

A network runs in one of `streams` infer requests, each of `threads` threads. Whoever wants to run something waits for
one of `streams` places, those with the earliest deadline first (`rtvoice.speech.turn`), so that work never fights for
more cores than it was given, and the wait is in this queue, where it can be seen and left, rather than in OpenVINO.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from types import MappingProxyType
from typing import TYPE_CHECKING, Self, TypeVar

import numpy as np
import openvino as ov

from rtvoice.errors import SetupError, SynthesisFailed
from rtvoice.speech.places import Places
from rtvoice.speech.turn import Turn

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from concurrent.futures import Future
    from pathlib import Path

    from numpy.typing import NDArray

T = TypeVar("T")

_WATCH_S = 0.25
"""Seconds between looks at an inference that may have failed."""


class Pool:
    """Compiled networks and the infer requests they run in. An async context manager; leaving waits for what runs.

    Whoever waits for a place then, or asks for one later, is told `SynthesisFailed`.

    Belongs to one event loop. `infer` and `run` may be cancelled: what runs cannot be stopped, so it goes on to its
    end, its result is dropped, and only then is its place given away.
    """

    def __init__(
        self,
        networks: Mapping[str, Path],
        compiled: Path,
        *,
        streams: int,
        threads: int,
        shared: Callable[[], Mapping[str, ov.Tensor]] = dict,
        later: Sequence[str] = (),
        seldom: Collection[str] = (),
        rare: Mapping[str, Callable[[], Mapping[str, ov.Tensor]]] = MappingProxyType({}),
    ) -> None:
        """Describe a pool.

        Args:
            networks: the networks by name, and the `.xml` file of each.
            compiled: OpenVINO's compile cache.
            streams: how many inferences run at once.
            threads: threads of one inference.
            shared: makes the arrays that every network reads that has an input of their name; called in a thread, while
                networks compile.
            later: networks that are loaded by `load_later`, in this order, or when they are first needed.
            seldom: networks that take a small part of the time: half as many inferences of one run at once as there are
                streams, since each that may has room of its own for what it computes.
            rare: networks that are loaded when they are first needed, and what makes the arrays that such a network
                reads in place of those that are shared.
        """
        self.streams, self.threads = streams, threads
        self._networks, self._later, self._rare = networks, later, rare
        self._seldom = dict.fromkeys(seldom, (streams + 1) // 2)
        self._loading = asyncio.Lock()
        self._core = ov.Core()
        self._core.set_property({"CACHE_DIR": str(compiled)})
        self._make_shared: Callable[[], Mapping[str, ov.Tensor]] = shared
        self._shared: Mapping[str, ov.Tensor] = {}
        self._places = Places(streams, self._seldom)
        self._requests: dict[str, deque[ov.InferRequest]] = {}
        self._models: dict[str, ov.CompiledModel] = {}
        self._runs = 0
        self._inputs: dict[str, set[str]] = {}  # of each network, those that are not shared
        self._fixed_shapes: dict[str, dict[str, tuple[int, ...]]] = {}  # of networks that have no others
        self._executor = ThreadPoolExecutor(streams, thread_name_prefix="rtvoice-host")
        self._compiling: set[asyncio.Future[ov.CompiledModel]] = set()
        self._closed = False

    @property
    def places(self) -> int:
        """How many inferences may run at once now."""
        return self._places.count

    @property
    def waiting(self) -> int:
        """How many wait for a place."""
        return self._places.waiting

    @property
    def runs(self) -> int:
        """Inferences so far."""
        return self._runs

    def limit(self, places: int) -> None:
        """Let fewer inferences run at once than there are streams, or as many again."""
        self._places.resize(max(1, min(places, self.streams)))

    async def __aenter__(self) -> Self:
        common = [name for name in self._networks if name not in self._rare and name not in self._later]
        compiling = (self._compiled(name) for name in common)
        shared, *models = await asyncio.gather(asyncio.to_thread(self._make_shared), *compiling)
        self._shared = shared
        self._make_shared = dict  # what it was made of may go
        ready = (self._make_ready(name, model, shared) for name, model in zip(common, models, strict=True))
        await asyncio.gather(*ready)
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        self._closed = True  # who waits is given a place, to be told
        await self._places.all_left()
        # for nobody any more; what it takes must not outlive us
        await asyncio.gather(*self._compiling, return_exceptions=True)
        self._requests.clear()
        self._models.clear()
        self._shared = {}
        self._executor.shutdown()

    async def _make_ready(self, name: str, model: ov.CompiledModel, shared: Mapping[str, ov.Tensor]) -> None:
        fed = [port for port in model.inputs if port.any_name not in shared]
        self._models[name] = model
        self._inputs[name] = {port.any_name for port in fed}
        if not any(port.partial_shape.is_dynamic for port in fed):
            self._fixed_shapes[name] = {port.any_name: tuple(port.shape) for port in fed}
        try:
            requests = [await asyncio.to_thread(_request, model, shared) for _ in range(self._streams_of(name))]
        except RuntimeError as error:  # there is no memory, as a rule
            raise SetupError(f"there is no room to run the {name} network: {error}") from error
        self._requests[name] = deque(requests)

    async def _compiled(self, network: str) -> ov.CompiledModel:
        streams = self._streams_of(network)
        loop = asyncio.get_running_loop()
        compiling = loop.run_in_executor(None, self._compile, self._networks[network], streams)
        self._compiling.add(compiling)
        compiling.add_done_callback(self._compiling.discard)
        return await asyncio.shield(compiling)  # whoever leaves, the thread goes on

    def _streams_of(self, network: str) -> int:
        return self._seldom.get(network, self.streams)

    def _compile(self, file: Path, streams: int) -> ov.CompiledModel:
        properties = {
            # lower precisions break the sine source and the phase
            "INFERENCE_PRECISION_HINT": "f32",
            "NUM_STREAMS": streams,
            "INFERENCE_NUM_THREADS": streams * self.threads,
            # where cores are shared with others, a pinned thread waits for whoever has its core
            "ENABLE_CPU_PINNING": False,
            # a network keeps primitives for every length it meets, in every stream; made anew they cost a few percent
            "CPU_RUNTIME_CACHE_CAPACITY": 0,
            # the cache holds what was made of the weights, not a second copy of them
            "CACHE_MODE": "OPTIMIZE_SIZE",
        }
        try:
            return self._core.compile_model(file, "CPU", properties)
        except RuntimeError as error:
            raise SetupError(
                f"the built model does not load ({error}); if there is memory enough, run `rtvoice build --force`"
            ) from error

    async def infer(
        self, network: str, inputs: Mapping[str, object], *, turn: Turn | None = None
    ) -> dict[str, NDArray[np.float32]]:
        """Run a network.

        Args:
            network: its name.
            inputs: an array for each input that is not shared. C-contiguous arrays of the right type are not copied;
                they must not change while the network runs.
            turn: for whom; None goes by the order of asking.

        Returns:
            An array for each output, owned by the caller.

        Raises:
            SynthesisFailed: OpenVINO could not run it, or the pool was left.
            SetupError: it was loaded now, and is damaged.
        """
        await self._load(network)
        if inputs.keys() != self._inputs[network]:  # what is not fed would be read as it is, without any error
            raise SynthesisFailed(f"the {network} network takes {sorted(self._inputs[network])}, not {sorted(inputs)}")
        leave = await self._take(turn or Turn(), network)
        if network not in self._requests:  # it was let go of meanwhile
            leave()
            return await self.infer(network, inputs, turn=turn)
        self._runs += 1
        request = self._requests[network].popleft()
        run = _Run(request, network, inputs)

        def ended() -> None:
            self._requests[network].append(request)
            leave()

        try:
            return await run.start(ended)
        except (RuntimeError, TypeError, ValueError) as error:
            ended()
            raise SynthesisFailed(f"the {network} network could not start: {error}") from error

    async def load_later(self) -> None:
        """Load the networks that were left out at first, one after the other.

        Raises:
            SetupError: one is damaged.
        """
        for network in self._later:
            await self._load(network)

    async def _load(self, network: str) -> None:
        """Load a network unless it is."""
        self._check_open()
        if network in self._requests:
            return
        async with self._loading:
            if network not in self._requests:
                own, model = await asyncio.gather(
                    asyncio.to_thread(self._rare.get(network, dict)),
                    self._compiled(network),
                )
                self._check_open()
                await self._make_ready(network, model, {**self._shared, **own})

    async def warm(self, turn: Turn | None = None) -> None:
        """Run each network of fixed shapes in each of its requests, on zeros.

        Until its first run a request holds room for the arrays that are shared, and its first run takes longer.

        Args:
            turn: by which places are taken for it; None goes by the order of asking.
        """
        for name, shapes in list(self._fixed_shapes.items()):  # others may be loaded meanwhile
            for _ in range(self._streams_of(name)):
                await self.infer(name, {port: np.zeros(shape, np.float32) for port, shape in shapes.items()}, turn=turn)

    async def give_back(self, *, fixed: bool = True) -> None:
        """Have networks let go of the room for what they last ran on, which is that of the longest sentence so far.

        They take it again when they run; one that runs now keeps it.

        Args:
            fixed: also those of fixed shapes, which take as much the next time; and rare networks go altogether, which
                keep most of it else.
        """
        idle = [name for name in self._rare if len(self._requests.get(name, ())) == self._streams_of(name)]
        gone = [(self._requests.pop(name), self._models.pop(name)) for name in idle if fixed]
        models = [model for name, model in self._models.items() if fixed or name not in self._fixed_shapes]

        def release() -> None:
            gone.clear()  # here, since it takes a while
            for model in models:
                with suppress(RuntimeError):  # it runs
                    model.release_memory()

        await asyncio.to_thread(release)

    async def run(self, step: Callable[[], T], *, turn: Turn | None = None) -> T:
        """Run a step of the host in a thread, in a place of its own.

        Raises:
            SynthesisFailed: the pool was left.
        """
        leave = await self._take(turn or Turn())
        loop = asyncio.get_running_loop()
        work: Future[T] = self._executor.submit(step)
        result = asyncio.wrap_future(work)  # first, so that who waits is woken before the place is given away
        work.add_done_callback(lambda _: loop.call_soon_threadsafe(leave))
        return await result

    async def _take(self, turn: Turn, kind: str = "") -> Callable[[], None]:
        """Wait for a place; returns what gives it back and charges for it."""
        self._check_open()
        asked = time.monotonic()
        await self._places.take(turn.deadline(), kind)
        if self._closed:
            self._places.leave(kind)
            self._check_open()
        began = time.monotonic()

        def leave() -> None:
            now = time.monotonic()
            turn.account.charge(now - began, began - asked, now)
            self._places.leave(kind)

        return leave

    def _check_open(self) -> None:
        if self._closed:
            raise SynthesisFailed("the engine was closed")


def _request(model: ov.CompiledModel, shared: Mapping[str, ov.Tensor]) -> ov.InferRequest:
    request = model.create_infer_request()
    for port in model.inputs:
        if (tensor := shared.get(port.any_name)) is not None:
            request.set_tensor(port, tensor)
    return request


class _Run:
    """One inference. It tells when it has ended, also to nobody: whoever waited may have left."""

    def __init__(self, request: ov.InferRequest, network: str, inputs: Mapping[str, object]) -> None:
        self._request, self._network = request, network
        self._inputs: dict[str, object] = dict(inputs)  # which are read in place, so they live as long as it runs
        self._loop = asyncio.get_running_loop()
        self._result: asyncio.Future[dict[str, NDArray[np.float32]]] = self._loop.create_future()
        self._watch: asyncio.TimerHandle | None = None

    def start(self, ended: Callable[[], None]) -> asyncio.Future[dict[str, NDArray[np.float32]]]:
        """Start, and return what the outputs will be set in. `ended` is called once, when the request is free."""

        def end() -> None:
            if self._watch is None:  # it had ended when the callback came through
                return
            self._watch.cancel()
            self._watch = None
            self._settle()
            # what it calls holds the request, and no garbage collector sees a circle that goes through OpenVINO
            self._request.set_callback(_ignore, None)
            ended()

        def watch() -> None:
            if self._over():
                end()
            else:
                self._watch = self._loop.call_later(_WATCH_S, watch)

        # the callback runs in OpenVINO's thread, and does not come at all if the inference fails
        self._request.set_callback(lambda _: self._loop.call_soon_threadsafe(end), None)
        self._request.start_async(self._inputs, share_inputs=True)
        self._watch = self._loop.call_later(_WATCH_S, watch)
        return self._result

    def _over(self) -> bool:
        try:
            return bool(self._request.wait_for(0))
        except RuntimeError:
            return True

    def _settle(self) -> None:
        self._inputs.clear()
        try:
            self._request.wait()
        except RuntimeError as error:
            if not self._result.done():
                self._result.set_exception(SynthesisFailed(f"the {self._network} network failed: {error}"))
            return
        if not self._result.done():
            ports = self._request.model_outputs
            self._result.set_result({port.any_name: np.array(self._request.get_tensor(port).data) for port in ports})


def _ignore(_: object) -> None:
    """Do nothing: an inference has ended that nobody waits for any more."""
