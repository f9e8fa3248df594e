"""A process of one's own for work that may hang or take its process down.

The child is a fresh interpreter (`serve.py`): it never runs the caller's script or notebook again, and
shares no CUDA context with it. Parent and child talk over a local socket or pipe in pickled messages.
"""

from __future__ import annotations

import os
import secrets
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection, Listener
from typing import Any, cast

from phobos_nb.options import child_environment
from phobos_nb.tune.messages import receive, send

START_SECONDS = 120.0
"""The longest that a child may take to say hello: an interpreter and NumPy on a loaded machine."""


class WorkerTimeoutError(TimeoutError):
    """The child did not answer in time; it has been ended."""


class WorkerCrashError(RuntimeError):
    """The child ended without an answer."""


class RemoteError(RuntimeError):
    """The work raised an exception in the child, which lives on. kind: the exception's class."""

    def __init__(self, kind: str, text: str) -> None:
        super().__init__(f"{kind}: {text}")
        self.kind, self.text = kind, text


class Worker:
    """A child process that holds one object, made by `factory(*arguments)`, and calls its methods.

    factory: a function or class that the child can import; arguments and results must pickle. The
    child starts with the first call, and again with the first one after it was lost.
    """

    def __init__(
        self, factory: Callable[..., Any], *arguments: Any, timeout: float | None = None
    ) -> None:
        self._factory, self._arguments, self._timeout = factory, arguments, timeout
        self._child: subprocess.Popen[bytes] | None = None
        self._pipe: Connection | None = None
        self._errors: Any = None
        self._lock = threading.RLock()
        self._starts = 0

    def call(self, method: str, *arguments: Any, timeout: float | None = None) -> Any:
        """Call a method of the child's object.

        timeout: seconds, default that of the worker; starting the child has a time of its own. Raises
        `WorkerTimeoutError`, `WorkerCrashError` or `RemoteError`; after the first two the child is gone.
        """
        with self._lock:
            self._ensure()
            try:
                return self._ask((method, arguments), timeout if timeout is not None else self._timeout)
            except KeyboardInterrupt:
                self.close()
                raise

    def begin(self) -> None:
        """Start the child now, in the background; what goes wrong is raised by the first call."""

        def start() -> None:
            with self._lock, suppress(WorkerTimeoutError, WorkerCrashError, RemoteError):
                self._ensure()

        threading.Thread(target=start, daemon=True).start()

    @property
    def generation(self) -> int:
        """The number of the child that the next call will ask: what an earlier one held is lost."""
        return self._starts if self._pipe is not None else self._starts + 1

    def close(self) -> None:
        """End the child, once no other thread is using it."""
        with self._lock:
            if self._pipe is not None:
                self._pipe.close()
            if self._child is not None:
                self._child.kill()
                self._child.wait()
            if self._errors is not None:
                self._errors.close()
            self._pipe = self._child = self._errors = None

    def kill(self) -> None:
        """End the child from another thread: a call that waits for it raises `WorkerCrashError`."""
        child = self._child
        if child is not None:
            child.kill()

    def _ensure(self) -> None:
        if self._pipe is not None:
            return
        key = secrets.token_bytes(16)
        with Listener(authkey=key) as listener:
            self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the child
            self._child = _start(str(listener.address), key, self._errors)
            self._pipe = _accept(listener, self._child)
        self._starts += 1
        if self._pipe is None:
            self._crashed("did not start")
        try:
            self._ask((self._factory, self._arguments), START_SECONDS)
        except RemoteError:
            self.close()
            raise

    def _ask(self, request: Any, timeout: float | None) -> Any:
        pipe = cast(Connection, self._pipe)
        try:
            send(pipe, request)
            if not pipe.poll(timeout):
                self.close()
                raise WorkerTimeoutError(f"no answer within {timeout:g} s")
            done, value = receive(pipe)
        except (EOFError, OSError) as error:
            if isinstance(error, WorkerTimeoutError):
                raise
            return self._crashed("ended")
        if done:
            return value
        raise RemoteError(*value)

    def _crashed(self, what: str) -> Any:
        child = cast("subprocess.Popen[bytes]", self._child)
        try:
            code: int | None = child.wait(5)
        except subprocess.TimeoutExpired:
            code = None
        last = _last_line(self._errors)
        self.close()
        raise WorkerCrashError(f"the worker process {what}{_meaning(code)}{f': {last}' if last else ''}")


def _start(address: str, key: bytes, errors: Any) -> subprocess.Popen[bytes]:
    search = os.pathsep.join(p for p in sys.path if p)
    command = [sys.executable, "-m", "phobos_nb.tune.serve", address]
    # A group of its own: an interrupt of the notebook is the parent's to handle.
    group = getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)
    child: subprocess.Popen[bytes] = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=errors,
        env=child_environment({"PYTHONPATH": search}),
        start_new_session=sys.platform != "win32",
        creationflags=group,
    )
    stdin = cast(Any, child.stdin)
    stdin.write(key)
    stdin.close()
    return child


def _accept(listener: Listener, child: subprocess.Popen[bytes]) -> Connection | None:
    """The child's connection; None when it ended first or took too long."""
    found: list[Connection] = []
    thread = threading.Thread(target=lambda: found.append(listener.accept()), daemon=True)
    thread.start()
    for _ in range(int(START_SECONDS * 20)):
        thread.join(0.05)
        if not thread.is_alive() or child.poll() is not None:
            break
    thread.join(0.2)
    return found[0] if found else None


def _meaning(code: int | None) -> str:
    if code is None:
        return ""
    if code < 0:
        try:
            return f" ({signal.Signals(-code).name})"
        except ValueError:
            return f" (signal {-code})"
    return f" (exit code {code})"


def _last_line(errors: Any) -> str:
    errors.seek(0)
    lines = [line for line in errors.read().decode("utf-8", "replace").splitlines() if line.strip()]
    return lines[-1].strip() if lines else ""
