import { describe, expect, it } from 'vitest'
import type { Communicator } from '../../../src/comm/communicator.js'
import '../../../src/entry/index.js'
import { local } from '../../../src/fabric/local/local.js'
import { run } from '../../../src/launch/run.js'
import type { TopologyCommunicator } from '../../../src/topology-communicator/topology-communicator.js'

const four = () => Float64Array.of(1, 2, 3, 4)
const eight = () => new Float64Array(8)

type Options = Readonly<Record<string, unknown>>
type Call = (options: Options, world: Communicator, graph: TopologyCommunicator) => unknown

/** Calls with blocks of two ranks that take lists with a number for each. */
const calls: Readonly<Record<string, Call>> = {
  gatherv: (options, world) => world.gatherv(four(), world.rank, options),
  igatherv: (options, world) => world.igatherv(four(), world.rank, options),
  'gathervInit of root 0': (options, world) =>
    world.gathervInit(four(), world.rank === 0 ? eight() : null, 0, options),
  gathervInit: (options, world) => world.gathervInit(four(), eight(), world.rank, options),
  allgatherv: (options, world) => world.allgatherv(four(), options),
  iallgatherv: (options, world) => world.iallgatherv(four(), options),
  allgathervInit: (options, world) => world.allgathervInit(four(), eight(), options),
  alltoallv: (options, world) => world.alltoallv(four(), [2, 2], options),
  ialltoallv: (options, world) => world.ialltoallv(four(), [2, 2], options),
  alltoallvInit: (options, world) => world.alltoallvInit(four(), [2, 2], eight(), options),
  neighborAllgatherv: (options, _, graph) => graph.neighborAllgatherv(four(), options),
  ineighborAllgatherv: (options, _, graph) => graph.ineighborAllgatherv(four(), options),
  neighborAllgathervInit: (options, _, graph) => graph.neighborAllgathervInit(four(), eight(), options),
  neighborAlltoallv: (options, _, graph) => graph.neighborAlltoallv(four(), [2, 2], options),
  ineighborAlltoallv: (options, _, graph) => graph.ineighborAlltoallv(four(), [2, 2], options),
  neighborAlltoallvInit: (options, _, graph) => graph.neighborAlltoallvInit(four(), [2, 2], eight(), options),
}

/** Calls with a list of their own: its name, and the call. */
const others: Readonly<
  Record<
    string,
    readonly [string, (list: never, world: Communicator, graph: TopologyCommunicator) => unknown]
  >
> = {
  reduceScatter: ['counts', (counts, world) => world.reduceScatter(four(), 'sum', { counts })],
  reduceScatterInit: [
    'counts',
    (counts, world) => world.reduceScatterInit(four(), eight(), 'sum', { counts }),
  ],
  scatterv: ['counts', (counts, world) => world.scatterv(four(), counts, world.rank)],
  scattervInit: ['counts', (counts, world) => world.scattervInit(four(), counts, eight(), world.rank)],
  'scatterv displs': ['displs', (displs, world) => world.scatterv(four(), [2, 2], world.rank, { displs })],
  alltoallv: ['sendCounts', (counts, world) => world.alltoallv(four(), counts)],
  alltoallvInit: ['sendCounts', (counts, world) => world.alltoallvInit(four(), counts, four())],
  'alltoallv sendDispls': [
    'sendDispls',
    (sendDispls, world) => world.alltoallv(four(), [2, 2], { sendDispls }),
  ],
  neighborAlltoallv: ['sendCounts', (counts, _, graph) => graph.neighborAlltoallv(four(), counts)],
  neighborAlltoallvInit: [
    'sendCounts',
    (counts, _, graph) => graph.neighborAlltoallvInit(four(), counts, four()),
  ],
  'neighborAlltoallv sendDispls': [
    'sendDispls',
    (sendDispls, _, graph) => graph.neighborAlltoallv(four(), [2, 2], { sendDispls }),
  ],
}

const lists: Readonly<Record<string, unknown>> = {
  null: null,
  text: 'ab',
  empty: [],
  sparse: new Array(2),
  negative: [-1, 1],
  'not a number': [Number.NaN, 1],
  fraction: [0.5, 1],
  'beyond 32 bits': [2 ** 31, 1],
  texts: ['1', '1'],
  bigints: [4n, 4n],
  'bigint array': new BigInt64Array(2),
  symbols: [Symbol('a'), 1],
  'symbol as length': { length: Symbol('b') },
}

/** What refused the call on each rank, and whether both communicators can be used afterwards. */
const refusals = (call: (world: Communicator, graph: TopologyCommunicator) => unknown) =>
  run(
    async (world: Communicator) => {
      const graph = await world.createDistGraphAdjacent({ sources: [0, 1], destinations: [0, 1] })
      let refusal: unknown
      try {
        await call(world, graph)
      } catch (error) {
        refusal = error
      }
      return [refusal, await graph.allreduce(1, 'sum'), await world.allreduce(1, 'sum')]
    },
    { ranks: 2, fabric: local({ processes: 2 }) },
  )

const refusedBy = (where: string) => [
  expect.objectContaining({ code: 'ERR_COUNT', message: expect.stringContaining(where) }),
  2,
  2,
]

describe('malformed lists are refused before anything is sent, and name the call and the list', () => {
  for (const [name, call] of Object.entries(calls)) {
    it.each(['counts', 'displs'])(`${name}: %s`, async (option) => {
      // The error of a world's collective names the call, whatever its form.
      const where = `${name.includes('eighbor') ? name.replace(/^i/, '') : name.replace(/^i|Init.*$/g, '')}`
      for (const list of Object.values(lists)) {
        const outcomes = await refusals((...comms) => call({ [option]: list }, ...comms))
        for (const outcome of outcomes) {
          expect(outcome).toEqual(refusedBy(where))
          expect(outcome).toEqual(refusedBy(`: ${option}`))
        }
      }
    })
  }

  it.each(Object.entries(others))('%s', async (_, [option, call]) => {
    for (const list of Object.values(lists)) {
      const outcomes = await refusals((...comms) => call(list as never, ...comms))
      for (const outcome of outcomes) expect(outcome).toEqual(refusedBy(`: ${option}`))
    }
  })

  it('lists that need more memory than there is fail on their rank, after the exchange', async () => {
    const displs = [2 ** 31 - 1, 0]
    const outcomes = await refusals((_, graph) =>
      graph.neighborAllgatherv(new Float64Array(4), graph.rank === 0 ? { displs } : {}),
    )
    expect(outcomes).toEqual([
      [expect.objectContaining({ code: 'ERR_COUNT' }), 2, 2],
      [undefined, 2, 2],
    ])
  })
})

it('an alltoallw without buffers is refused', async () => {
  const send = [four(), four()]
  for (const recv of [undefined, null, new Set(send)]) {
    const outcomes = await refusals((_, graph) => graph.neighborAlltoallwInit(send, recv as never))
    for (const outcome of outcomes) expect(outcome).toEqual(refusedBy('neighborAlltoallwInit: expected'))
  }
})

it('values stand in messages as programs write them', async () => {
  const messageOf = async (call: Parameters<typeof refusals>[0]) =>
    ((await refusals(call))[0][0] as Error).message
  expect(await messageOf((world) => world.allgatherv(four(), { counts: [4n, 4n] as never }))).toBe(
    'allgatherv: counts[0] must be an integer from 0 to 2^31 - 1, got 4n',
  )
  expect(await messageOf((_, graph) => graph.neighborAllgather(four(), { into: null as never }))).toBe(
    'neighborAllgather: expected a typed array to receive into, got null',
  )
})

it('a list of ranks that no array could hold is refused', async () => {
  for (const length of [1e15, 0.5, 2 ** 32, Number.NaN, -1]) {
    const outcomes = await refusals((world) => world.worldRanks({ length }))
    for (const outcome of outcomes)
      expect(outcome).toEqual([expect.objectContaining({ code: 'ERR_ARGUMENT' }), 2, 2])
  }
})
