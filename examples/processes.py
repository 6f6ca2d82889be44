#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Processes of Python that meet in a barrier of tutti, through the C interface and ctypes.

Each process adds up a part of a shared array, all meet, and each reads the sums of all. Then one is
killed, and the others learn which. Nobody waits for ever for a participant that ends too early.

usage: processes.py [LIBTUTTI]     (default: libtutti.so.0)
"""

import ctypes
import multiprocessing
import os
import signal
import sys
from multiprocessing import shared_memory

CREATE, ATTACH = 0, 1
OK, TIMED_OUT, DIED = 0, -4, -18
LONGEST_WAIT_NS = 30_000_000_000


class Died(RuntimeError):
    """A participant has died: `rank` and `process` tell which."""

    def __init__(self, rank: int, process: int) -> None:
        super().__init__(f"rank {rank} (process {process}) has died")
        self.rank, self.process = rank, process


class Barrier:
    """A participant of a barrier between processes. A wait does not hold Python's lock."""

    def __init__(self, library: str, name: str, participants: int, how: int = ATTACH) -> None:
        self._tutti = tutti = ctypes.CDLL(library)
        tutti.tutti_strerror.restype = ctypes.c_char_p
        handle = ctypes.c_void_p
        tutti.tutti_shared_barrier_open.argtypes = [
            ctypes.POINTER(handle), ctypes.c_char_p, ctypes.c_uint32, ctypes.c_int,
        ]  # fmt: skip
        tutti.tutti_shared_barrier_join.argtypes = [handle, ctypes.c_uint32]
        tutti.tutti_shared_barrier_arrive_and_wait_for.argtypes = [handle, ctypes.c_uint64]
        tutti.tutti_shared_barrier_died.argtypes = [
            handle, ctypes.POINTER(ctypes.c_uint32), ctypes.POINTER(ctypes.c_int32),
        ]  # fmt: skip
        tutti.tutti_shared_barrier_close.argtypes = [handle]
        tutti.tutti_shared_barrier_close.restype = None
        self._handle = handle()
        self._check(
            tutti.tutti_shared_barrier_open(
                ctypes.byref(self._handle), name.encode(), participants, how
            )
        )

    def _check(self, error: int) -> None:
        if error != OK:
            raise RuntimeError(self._tutti.tutti_strerror(error).decode())

    def join(self, rank: int) -> None:
        self._check(self._tutti.tutti_shared_barrier_join(self._handle, rank))

    def wait(self, timeout_ns: int = LONGEST_WAIT_NS) -> None:
        error = self._tutti.tutti_shared_barrier_arrive_and_wait_for(self._handle, timeout_ns)
        if error == TIMED_OUT:
            raise TimeoutError("the deadline passed before all participants had arrived")
        if error == DIED:
            rank, process = ctypes.c_uint32(), ctypes.c_int32()
            self._tutti.tutti_shared_barrier_died(
                self._handle, ctypes.byref(rank), ctypes.byref(process)
            )
            raise Died(rank.value, process.value)
        self._check(error)

    def close(self) -> None:
        self._tutti.tutti_shared_barrier_close(self._handle)


def work(library: str, name: str, ranks: int, rank: int, said: multiprocessing.SimpleQueue) -> None:
    memory = shared_memory.SharedMemory(name)
    sums = memory.buf.cast("q")
    barrier = Barrier(library, name + "_barrier", ranks)
    barrier.join(rank)
    sums[rank] = sum(range(rank * 1000, (rank + 1) * 1000))
    try:
        barrier.wait()
        said.put((rank, sum(sums[:ranks])))
        if rank == ranks - 1:
            os.kill(os.getpid(), signal.SIGKILL)
        barrier.wait()
    except (RuntimeError, TimeoutError) as end:
        said.put((rank, str(end)))
    sums.release()
    barrier.close()
    memory.close()


def main() -> int:
    library = sys.argv[1] if len(sys.argv) > 1 else "libtutti.so.0"
    ranks = 3
    context = multiprocessing.get_context("spawn")
    said = context.SimpleQueue()
    memory = shared_memory.SharedMemory(create=True, size=8 * ranks)
    name = memory.name
    # This process creates the barrier and removes its name, and does not join.
    owner = Barrier(library, name + "_barrier", ranks, CREATE)
    processes = [
        context.Process(target=work, args=(library, name, ranks, rank, said))
        for rank in range(ranks)
    ]
    answers = []
    try:
        for process in processes:
            process.start()
        for process in processes:
            process.join()
        # A participant that has died has said less, so nothing counts the answers.
        while not said.empty():
            answers.append(said.get())
    finally:
        owner._tutti.tutti_shared_barrier_unlink((name + "_barrier").encode())
        owner.close()
        memory.close()
        memory.unlink()

    total = sum(range(1000 * ranks))
    died = f"rank {ranks - 1} (process {processes[-1].pid}) has died"
    expected = [(r, total) for r in range(ranks)] + [(r, died) for r in range(ranks - 1)]
    for rank, answer in sorted(answers, key=str):
        print(f"rank {rank}: {answer}")
    return 0 if sorted(answers, key=str) == sorted(expected, key=str) else 1


if __name__ == "__main__":
    sys.exit(main())
