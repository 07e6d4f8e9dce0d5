import { describe, expect, it } from 'vitest'
import { seededRandom } from '../../../../src/base/random.js'
import { mooreTopology } from '../../../../src/topology/generate/moore.js'
import { inNeighbors, outNeighbors } from '../../../../src/topology/neighbors.js'
import { planFromNeighbors } from '../../../../src/topology-communicator/distributed/distributed-plan.js'
import { namedRanks } from '../../../../src/topology-communicator/distributed/own-lists.js'
import type { RankHosts } from '../../../../src/topology-communicator/distributed/rank-hosts.js'
import { memoryExchanges } from '../../../support/memory-exchange.js'

const topology = mooreTopology({ dims: [6, 8], radius: 1 })
const processes = 6
const processOf = (rank: number) => (rank * 7) % processes
const strategy = { kind: 'common-neighbor', k: 2, mode: 'agnostic', theta: 0 } as const

function listsOf(process: number) {
  const all = Array.from({ length: topology.ranks }, (_, rank) => rank)
  const localRanks = Int32Array.from(all.filter((rank) => processOf(rank) === process))
  const hosted = Array.from(localRanks, (rank) => ({
    sources: inNeighbors(topology, rank),
    destinations: outNeighbors(topology, rank),
  }))
  return { localRanks, hosted }
}

/** Hosts that know the neighbors and look up others, one batch at a time. */
class Learned implements RankHosts {
  readonly #known: Set<number>
  readonly #whenFound: () => Promise<void>
  #isAsked = false
  batches = 0

  constructor(process: number, whenFound: () => Promise<void>) {
    this.#known = new Set(namedRanks(listsOf(process)))
    this.#whenFound = whenFound
  }

  find(rank: number): number | undefined {
    return this.#known.has(rank) ? processOf(rank) : undefined
  }

  async learn(ranks: Int32Array): Promise<void> {
    expect(this.#isAsked).toBe(false)
    this.#isAsked = true
    this.batches++
    await this.#whenFound()
    for (const rank of ranks) this.#known.add(rank)
    this.#isAsked = false
  }

  believe(rank: number, process: number): void {
    expect(process).toBe(processOf(rank))
    this.#known.add(rank)
  }
}

const planWith = (hostsOf: (process: number) => RankHosts) =>
  memoryExchanges(processes).map((exchange) =>
    planFromNeighbors(exchange, listsOf(exchange.me), strategy, {
      ranks: topology.ranks,
      nodeOf: () => 0,
      nodesOfAll: async () => new Int32Array(topology.ranks),
      hosts: hostsOf(exchange.me),
    }),
  )

describe('planning from neighbors while the processes of friends are looked up', () => {
  it.each([1, 2, 3, 4])('makes the same plan however late they are found, seed %i', async (seed) => {
    const everywhere = { find: processOf, learn: async () => {}, believe: () => {} }
    const expected = await Promise.all(planWith(() => everywhere))
    const random = seededRandom(seed)
    const whenFound = async () => {
      for (let turns = Math.floor(random() * 200); turns > 0; turns--) await Promise.resolve()
    }
    const hosts = Array.from({ length: processes }, (_, process) => new Learned(process, whenFound))
    const found = await Promise.all(planWith((process) => hosts[process]))
    for (const [process, { schedule }] of found.entries()) {
      expect(schedule).toEqual(expected[process].schedule)
      expect(hosts[process].batches).toBeGreaterThan(0)
    }
  })

  it('rejects with the error of a look-up that fails', async () => {
    const lost = new Error('the process that has the row is lost')
    const settled = await Promise.allSettled(
      planWith(
        (process) => new Learned(process, () => (process === 2 ? Promise.reject(lost) : Promise.resolve())),
      ),
    )
    expect(settled[2]).toEqual({ status: 'rejected', reason: lost })
  })
})
