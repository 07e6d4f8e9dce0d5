"""Neighbor_allgather of mpi4py in a loop: KEY:CALLS:BATCHES:GRAPH FILE ...; prints the median microseconds of a call as JSON."""

import json
import statistics
import sys
from array import array

from mpi4py import MPI


def neighbors_of(path, rank):
    """Sources and destinations of a rank, from the file that baselines/graph.h reads."""
    with open(path) as file:
        numbers = iter(int(word) for word in file.read().split())
    next(numbers)
    for _ in range(rank + 1):
        degrees = next(numbers), next(numbers)
        lists = [[next(numbers) for _ in range(degree)] for degree in degrees]
    return lists


def measure(calls, batches, path):
    world = MPI.COMM_WORLD
    sources, destinations = neighbors_of(path, world.rank)
    graph = world.Create_dist_graph_adjacent(sources, destinations)
    mine, theirs = array("i", [0]), array("i", [0] * len(sources))
    samples = []
    for batch in range(batches):
        world.Barrier()
        begin = MPI.Wtime()
        for call in range(calls):
            mine[0] = world.rank * 100_000 + call
            graph.Neighbor_allgather([mine, MPI.INT], [theirs, MPI.INT])
        samples.append((MPI.Wtime() - begin) / calls * 1e6)
        if list(theirs) != [source * 100_000 + calls - 1 for source in sources]:
            print(f"rank {world.rank}: wrong data", file=sys.stderr)
            world.Abort(3)
    graph.Free()
    return statistics.median(samples)


figures = {}
for word in sys.argv[1:]:
    key, calls, batches, path = word.split(":", 3)
    figures[key] = measure(int(calls), int(batches), path)
if MPI.COMM_WORLD.rank == 0:
    print(json.dumps(figures))
