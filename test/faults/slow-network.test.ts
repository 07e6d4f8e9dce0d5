import { type Communicator, local, run, VirtualTime } from 'rankweave'
import { describe, expect, it } from 'vitest'

const latencyNs = 50e6
/** 62.5 MB/s: as 16 MiB at 1 GB/s, in a sixteenth of the memory. */
const nsPerByte = 16

/** Four processes, each on its own host, 50 ms from each other. */
function slowNetwork(): VirtualTime {
  const costs = { latencyNs, sendOverheadNs: 0, receiveOverheadNs: 0, gapNs: 0, nsPerByte }
  return new VirtualTime({ node: { ...costs, latencyNs: 1000 }, network: costs })
}

/** How long one call takes among many, after the first. */
async function timeOf(
  ranks: number,
  call: (world: Communicator) => Promise<unknown>,
  options: { readonly eagerLimitBytes?: number } = {},
): Promise<number> {
  const timeOfCalls = async (calls: number) => {
    const time = slowNetwork()
    const main = async (world: Communicator) => {
      for (let n = 0; n < calls; n++) await call(world)
    }
    await run(main, { ranks, ...options, fabric: local({ processes: 4, nodes: 4, virtualTime: time }) })
    return Math.max(...[0, 1, 2, 3].map((process) => time.nowNs(process)))
  }
  return ((await timeOfCalls(3)) - (await timeOfCalls(1))) / 2
}

describe('on a network of 50 ms', () => {
  it('a barrier takes as many rounds as its processes need, however many ranks they have', async () => {
    for (const ranks of [4, 64, 256]) {
      const rounds = (await timeOf(ranks, (world) => world.barrier())) / latencyNs
      expect(rounds, `${ranks} ranks`).toBeGreaterThan(1.9)
      expect(rounds, `${ranks} ranks`).toBeLessThan(2.1)
    }
  })

  it('frames of a barrier are those between processes', async () => {
    const sent: number[] = []
    await run(
      async (world) => {
        await world.barrier()
        const before = world.counters.process.framesSent
        await world.barrier()
        await world.barrier()
        sent[world.location.process] = (world.counters.process.framesSent - before) / 2
      },
      { ranks: 64, fabric: local({ processes: 4 }) },
    )
    expect(sent).toEqual([2, 2, 2, 2])
  })

  it('an allgather of long blocks takes the latency three times, once when its blocks are eager', async () => {
    const ranks = 16
    const totalBytes = 2 ** 20
    const blockBytes = totalBytes / ranks
    const gather = (world: Communicator) =>
      world.allgather(new Uint8Array(blockBytes).fill(world.rank), { into: new Uint8Array(totalBytes) })
    // Each process takes in what the other three have.
    const bytesNs = (totalBytes * 3 * nsPerByte) / 4
    // Announced, asked for, sent.
    const longNs = await timeOf(ranks, gather, { eagerLimitBytes: blockBytes / 2 })
    expect(longNs / (3 * latencyNs + bytesNs)).toBeCloseTo(1, 1)
    const eagerNs = await timeOf(ranks, gather, { eagerLimitBytes: totalBytes })
    expect((latencyNs + bytesNs) / eagerNs).toBeGreaterThan(0.8)
  })
})
