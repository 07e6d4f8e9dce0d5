"""Eight members of one world: they split it twice, free what they made, lose one of them, and continue without it.

    python3 eight_members.py [URL [FILE_WITH_TOKEN]]

URL is that of the service, http://127.0.0.1:7878 by default.
"""

import asyncio
import sys

import websockets

from rankweave_worlds import CallError, Member

MEMBERS = 8


async def together(members, call):
    """The same call of all members; results in their order."""
    return await asyncio.gather(*(call(member) for member in members))


async def fails_with(code, member, kind, **fields):
    try:
        await member.call(kind, **fields)
    except CallError as error:
        assert error.code == code, error
    else:
        raise AssertionError(f"{kind} did not fail with {code}")


async def main(url, token):
    members = [await Member.connect(url, token) for _ in range(MEMBERS)]
    await asyncio.gather(
        *(member.join("eight", MEMBERS, f"host{n}:9000") for n, member in enumerate(members))
    )
    members.sort(key=lambda member: member.rank)

    # By the parity of the rank, in reverse order; then halves of each.
    parity = await together(
        members, lambda m: m.call("split", comm="world", color=m.rank % 2, key=-m.rank)
    )
    assert [place["size"] for place in parity] == [4] * MEMBERS
    assert [place["rank"] for place in parity] == [3, 3, 2, 2, 1, 1, 0, 0]
    comm = {member.rank: place["comm"] for member, place in zip(members, parity)}
    halves = await together(
        members, lambda m: m.call("split", comm=comm[m.rank], color=m.rank // 4, key=0)
    )
    assert [place["size"] for place in halves] == [2] * MEMBERS
    half = {member.rank: place["comm"] for member, place in zip(members, halves)}
    await together(members, lambda m: m.call("barrier", comm=half[m.rank]))

    in_world = await members[0].call("translate", comm=comm[0], ranks=[0, 1, 2, 3], to="world")
    assert in_world["ranks"] == [6, 4, 2, 0]
    found = await members[0].call("lookup", comm=comm[0], rank=0)
    assert found["worldRank"] == 6 and found["address"].endswith(":9000")

    await together(members, lambda m: m.call("free", comm=half[m.rank]))
    await together(members, lambda m: m.call("free", comm=comm[m.rank]))
    await fails_with("ERR_NOT_FOUND", members[0], "barrier", comm=comm[0])

    # One is lost while the others wait for it.
    *survivors, last = members
    waiting = [asyncio.ensure_future(fails_with("ERR_PEER_LOST", m, "barrier", comm="world")) for m in survivors]
    last.crash()
    await asyncio.gather(*waiting)
    lost = await survivors[0].event("member")
    assert (lost["rank"], lost["state"]) == (MEMBERS - 1, "lost")

    shrunk = await together(survivors, lambda m: m.call("shrink", comm="world"))
    assert [place["rank"] for place in shrunk] == list(range(MEMBERS - 1))
    rest = shrunk[0]["comm"]
    agreed = await together(survivors, lambda m: m.call("agree", comm=rest, flag=7 if m.rank else 5))
    assert all(reply["flag"] == 5 for reply in agreed)
    await together(survivors, lambda m: m.call("barrier", comm=rest))
    await together(survivors, lambda m: m.call("leave"))
    for member in survivors:
        await member.close()
    print(f"{MEMBERS} members, 2 splits, 1 lost, {shrunk[0]['size']} continue")


if __name__ == "__main__":
    url = sys.argv[1] if len(sys.argv) > 1 else "http://127.0.0.1:7878"
    given = None
    try:
        if len(sys.argv) > 2:
            with open(sys.argv[2], encoding="utf-8") as file:
                given = next(line.strip() for line in file if line.strip() and not line.startswith("#"))
        asyncio.run(main(url, given))
    except (OSError, ValueError, CallError, websockets.WebSocketException) as error:
        # No service there, no URL, or a token that the service refuses.
        sys.exit(f"{url}: {error or type(error).__name__}")
