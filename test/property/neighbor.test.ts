import fc from 'fast-check'
import { type Communicator, local, run, type TopologyCommunicator } from 'rankweave'
import { type Strategy, verify } from 'rankweave/schedule'
import { expect, it } from 'vitest'
import { mulberry32 } from '../../src/base/random.js'
import { cases } from '../support/soak.js'

/** A multigraph with self loops, parallel edges and isolated ranks; its placement; its strategy. */
interface Case {
  readonly ranks: number
  readonly edges: readonly (readonly [source: number, destination: number])[]
  /** Ranks of every process, empty ones included. */
  readonly ranksPerProcess: readonly number[]
  /** Orders neighbor lists and ranks, and the delivery of frames. */
  readonly seed: number
  /** Limits of what is sent before its receivers take it. */
  readonly limits: { readonly eagerLimitBytes?: number; readonly creditBytes?: number }
  readonly strategy: Strategy
  /** Elements of equal blocks. */
  readonly count: number
  /** Elements of rank r's block are `lengths[r % lengths.length]` in the varying form. */
  readonly lengths: readonly number[]
}

const strategies: fc.Arbitrary<Strategy> = fc.oneof(
  { weight: 1, arbitrary: fc.constant<Strategy>({ kind: 'direct' }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('common-neighbor' as const),
      k: fc.constantFrom(2, 3, 4),
      mode: fc.constantFrom('agnostic' as const, 'aware' as const),
      theta: fc.constantFrom(0, 0, 0, 1, 2),
      dedupe: fc.boolean(),
      elide: fc.boolean(),
    }),
  },
)

const anyCase: fc.Arbitrary<Case> = fc.integer({ min: 1, max: 10 }).chain((ranks) => {
  const rank = fc.integer({ min: 0, max: ranks - 1 })
  return fc.record({
    ranks: fc.constant(ranks),
    edges: fc.oneof(
      { weight: 1, arbitrary: fc.array(fc.tuple(rank, rank), { maxLength: 20 }) },
      {
        weight: 2,
        arbitrary: fc.array(fc.tuple(rank, rank), { minLength: 40, maxLength: 100, size: 'max' }),
      },
    ),
    ranksPerProcess: fc
      .array(rank, { maxLength: 6 })
      .map((cuts) => [0, ...cuts.sort((a, b) => a - b), ranks])
      .map((bounds) => bounds.slice(1).map((bound, i) => bound - bounds[i])),
    seed: fc.nat(),
    limits: fc.constantFrom({}, { eagerLimitBytes: 0, creditBytes: 0 }),
    strategy: strategies,
    count: fc.constantFrom(0, 1, 2, 5, 60),
    lengths: fc.array(fc.constantFrom(0, 1, 3, 70), { minLength: 1, maxLength: 4 }),
  })
})

function shuffle<T>(items: T[], random: () => number): T[] {
  for (let i = items.length - 1; i > 0; i--) {
    const j = random() % (i + 1)
    ;[items[i], items[j]] = [items[j]!, items[i]!]
  }
  return items
}

/** Element of a block: encodes source, element and round, so that misrouting cannot pass. */
const mark = (source: number, element: number, round: number) => source * 100_000 + element * 100 + round
const blockOf = (source: number, length: number, round: number) =>
  Float64Array.from({ length }, (_, element) => mark(source, element, round))

/** The receive buffer by MPI's definition: the blocks of the sources, in the order of the list. */
const oracle = (sources: readonly number[], lengthOf: (rank: number) => number, round: number) =>
  sources.flatMap((source) => [...blockOf(source, lengthOf(source), round)])

async function check({ ranks, edges, ranksPerProcess, seed, limits, strategy, count, lengths }: Case) {
  const random = mulberry32(seed)
  const sourcesOf = Array.from({ length: ranks }, (_, r) =>
    shuffle(
      edges.filter(([, destination]) => destination === r).map(([source]) => source),
      random,
    ),
  )
  const destinationsOf = Array.from({ length: ranks }, (_, r) =>
    shuffle(
      edges.filter(([source]) => source === r).map(([, destination]) => destination),
      random,
    ),
  )
  const keys = shuffle([...Array(ranks).keys()], random)
  const lengthOf = (rank: number) => lengths[rank % lengths.length]
  const nodes = ranksPerProcess.map((_, p) => `node${p % 2}`)

  const gather = async (graph: TopologyCommunicator) => {
    const { rank } = graph
    const sources = sourcesOf[rank]
    const even = await graph.neighborAllgather(blockOf(rank, count, 0))
    expect([...even]).toEqual(oracle(sources, () => count, 0))

    const varied = await graph.neighborAllgatherv(blockOf(rank, lengthOf(rank), 1))
    expect([...varied.data]).toEqual(oracle(sources, lengthOf, 1))
    expect([...varied.counts]).toEqual(sources.map(lengthOf))

    const send = new Float64Array(lengthOf(rank))
    const recv = new Float64Array(varied.data.length + 1).fill(-1)
    const request = graph.neighborAllgathervInit(send, recv)
    for (const round of [2, 3]) {
      send.set(blockOf(rank, send.length, round))
      await request.start()
      expect([...recv]).toEqual([...oracle(sources, lengthOf, round), -1])
    }
    request.free()
  }

  let combines = false
  const main = async (world: Communicator) => {
    // Ranks are distributed over the processes at random.
    const shuffled = await world.split(0, keys[world.rank])
    const graph = await shuffled.createDistGraphAdjacent({
      sources: sourcesOf[shuffled.rank],
      destinations: destinationsOf[shuffled.rank],
      strategy,
    })
    const { schedule, groups } = await graph.plan()
    combines ||= (groups?.count ?? 0) > 0
    expect(verify(schedule, graph.topology)).toMatchObject({ ok: true })
    await gather(graph)
    await Promise.all([graph.free(), shuffled.free()])
    await world.barrier()
    expect([...world.seat().state.runtime.contexts].length).toBe(1)
  }
  await run(main, { ranks, fabric: local({ ranksPerProcess, nodes, seed }), ...limits })
  return combines
}

it('neighbor allgathers over random multigraphs, placements and strategies match a direct oracle', async () => {
  let ran = 0
  let combined = 0
  await fc.assert(
    fc.asyncProperty(anyCase, async (one) => {
      if (await check(one)) combined++
      ran++
    }),
    { numRuns: cases(600, 150) },
  )
  expect(ran).toBeGreaterThanOrEqual(cases(600, 150))
  // Otherwise the plans would have had little to combine.
  expect(combined).toBeGreaterThan(20)
})
