"""Work that must end within a time, whatever it waits for."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from threading import Semaphore, Thread
from time import monotonic
from typing import TypeVar

from toolsearch.errors import EncoderFailed, InvalidInput

Result = TypeVar("Result")


class Watch:
    """Runs work on a thread of its own and stops waiting for it when its time is over.

    Work that is given up cannot be ended; it keeps its place until it ends by itself, and no more than
    `at_once` are ever under way. Threads do not keep the process alive.

    Raises:
        InvalidInput: the seconds are not positive.
    """

    def __init__(self, seconds: float, at_once: int = 32) -> None:
        if not seconds > 0:
            raise InvalidInput(f"a time limit must be more than 0 seconds, not {seconds}")
        self.seconds = seconds
        self._places = Semaphore(at_once)

    def run(self, work: Callable[[], Result], what: str) -> Result:
        """What the work returns or raises.

        Raises:
            EncoderFailed: it took longer than the limit, or earlier work kept every place that long.
        """
        end = monotonic() + self.seconds
        if not self._places.acquire(timeout=self.seconds):
            raise EncoderFailed(f"{what} did not answer within {self.seconds:g} s: too much is waiting for it already")
        future: Future[Result] = Future()
        Thread(target=self._work, args=(work, future), name="toolsearch-wait", daemon=True).start()
        try:
            return future.result(timeout=max(0.0, end - monotonic()))
        except TimeoutError:
            raise EncoderFailed(f"{what} did not answer within {self.seconds:g} s") from None

    def _work(self, work: Callable[[], Result], future: Future[Result]) -> None:
        try:
            future.set_result(work())
        except BaseException as error:  # noqa: BLE001 - raised again on the thread that waits
            future.set_exception(error)
        finally:
            self._places.release()
