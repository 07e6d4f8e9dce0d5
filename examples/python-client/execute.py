"""Executes a plan with all its ranks in this process, and checks what every rank ends up with.

    python3 execute.py plan.jsonl

`execute` is what a rank of your program does: give it your own `send` and `receive`, to the addresses of a world.
"""

import asyncio
import json
import sys
from collections import defaultdict


async def execute(line, block, send, receive, combine):
    """Executes the line of one rank, as in /v1/plans/PLAN/ranks/N, and returns its receive buffer.

    `block(b)` is the data of an own block, and `combine(left, right)` reduces two of them.
    `send(to, tag, data)` and `receive(source, tag)` move lists of data, in order for equal ranks and tags.
    """
    own, slots = len(line["own"]), len(line["slots"])
    places = [block(b) for b in line["own"]] + [None] * (slots + line["staging"])
    for phase in line["phases"]:
        receives = phase.get("receive", [])
        arriving = [asyncio.ensure_future(receive(one["from"], one["tag"])) for one in receives]
        for one in phase.get("send", []):
            await send(one["to"], one["tag"], [places[place] for place in one["read"]])
        for one, arrived in zip(receives, await asyncio.gather(*arriving)):
            for place, data in zip(one["write"], arrived):
                places[place] = data
        for one in phase.get("local", []):
            if "copy" in one:
                for read, write in zip(one["read"], one["write"]):
                    places[write] = places[read]
            else:
                for left, right, write in zip(one["left"], one["right"], one["write"]):
                    places[write] = combine(places[left], places[right])
    return places[own : own + slots]


def expected(slot):
    """The blocks that a slot must hold: one, or those of a reduction in their order."""
    if isinstance(slot, int):
        return [slot]
    return [first + i * stride for first, count, stride in slot["reduce"] for i in range(count)]


def lines_of(file):
    """The lines of all ranks of a plan; ValueError for a file that is no plan."""
    with open(file, encoding="utf-8") as lines:
        header, *ranks = [json.loads(line) for line in lines if line.strip()] or [None]
    if not isinstance(header, dict) or header.get("format") != "rankweave-schedule":
        raise ValueError("its first line is not the header of a schedule")
    if header.get("version") not in (2, 3):
        raise ValueError(f"expected version 2 or 3, got {header.get('version')}")
    if len(ranks) != header.get("ranks"):
        raise ValueError(f"expected {header.get('ranks')} ranks, got {len(ranks)}")
    return ranks


async def main(file):
    ranks = lines_of(file)
    queues = defaultdict(asyncio.Queue)
    messages = 0

    def run(line):
        async def send(to, tag, data):
            nonlocal messages
            messages += 1
            queues[line["rank"], to, tag].put_nowait(data)

        def receive(source, tag):
            return queues[source, line["rank"], tag].get()

        # The data of a block is a list of its number, so that a reduction shows its order.
        return execute(line, lambda b: [b], send, receive, lambda left, right: left + right)

    for line, slots in zip(ranks, await asyncio.gather(*map(run, ranks))):
        assert slots == [expected(slot) for slot in line["slots"]], line["rank"]
    print(f"{len(ranks)} ranks, {messages} messages: every slot holds its block")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    try:
        asyncio.run(main(sys.argv[1]))
    except (OSError, ValueError) as error:
        sys.exit(f"{sys.argv[1]}: expected a plan, as plan.py writes it: {error}")
