import { type Communicator, local, type TopologyCommunicator } from 'rankweave'
import { describe, expect, it } from 'vitest'
import { callByName } from '../../../src/conformance/collective-forms.js'
import { coded, onRanks } from '../../support/on-ranks.js'

const four = () => Float64Array.of(1, 2, 3, 4)
const eight = () => new Float64Array(8)

type Call = (list: never, world: Communicator, graph: TopologyCommunicator) => unknown

/** Calls with blocks of two ranks that take lists with a number for each, and what their inits take. */
const calls: Readonly<Record<string, (rank: number) => readonly [call: unknown[], init: unknown[]]>> = {
  gatherv: (rank) => [
    [four(), rank],
    [four(), eight(), rank],
  ],
  allgatherv: () => [[four()], [four(), eight()]],
  alltoallv: () => [
    [four(), [2, 2]],
    [four(), [2, 2], eight()],
  ],
  neighborAllgatherv: () => [[four()], [four(), eight()]],
  neighborAlltoallv: () => [
    [four(), [2, 2]],
    [four(), [2, 2], eight()],
  ],
}

/** Each call in each of its forms, with what its error says where it was, and the name of a list. */
const forms = Object.entries(calls).flatMap(([name, argsOf]) =>
  [name, `i${name}`, `${name}Init`].flatMap((form) =>
    ['counts', 'displs'].map((option): readonly [form: string, option: string, where: string, call: Call] => {
      const isNeighbor = name.startsWith('neighbor')
      const where = isNeighbor && form.endsWith('Init') ? form : name
      return [
        ...([form, option, where] as const),
        (list, world, graph) => {
          const [call, init] = argsOf(world.rank)
          const args = form.endsWith('Init') ? init : call
          return callByName(isNeighbor ? graph : world, form, [...args, { [option]: list }])
        },
      ]
    }),
  ),
)

/** Calls with a list of their own: their name, that of the list, and the call. */
const others: readonly (readonly [form: string, option: string, where: string, call: Call])[] = [
  ['reduceScatter', 'counts', '', (counts, world) => world.reduceScatter(four(), 'sum', { counts })],
  [
    'reduceScatterInit',
    'counts',
    '',
    (counts, world) => world.reduceScatterInit(four(), eight(), 'sum', { counts }),
  ],
  [
    'gathervInit of root 0',
    'counts',
    '',
    (counts, world) => world.gathervInit(four(), world.rank === 0 ? eight() : null, 0, { counts }),
  ],
  ['scatterv', 'counts', '', (counts, world) => world.scatterv(four(), counts, world.rank)],
  ['scattervInit', 'counts', '', (counts, world) => world.scattervInit(four(), counts, eight(), world.rank)],
  ['scatterv', 'displs', '', (displs, world) => world.scatterv(four(), [2, 2], world.rank, { displs })],
  ['alltoallv', 'sendCounts', '', (counts, world) => world.alltoallv(four(), counts)],
  ['alltoallvInit', 'sendCounts', '', (counts, world) => world.alltoallvInit(four(), counts, four())],
  ['alltoallv', 'sendDispls', '', (sendDispls, world) => world.alltoallv(four(), [2, 2], { sendDispls })],
  ['neighborAlltoallv', 'sendCounts', '', (counts, _, graph) => graph.neighborAlltoallv(four(), counts)],
  [
    'neighborAlltoallvInit',
    'sendCounts',
    '',
    (counts, _, graph) => graph.neighborAlltoallvInit(four(), counts, four()),
  ],
  [
    'neighborAlltoallv',
    'sendDispls',
    '',
    (sendDispls, _, graph) => graph.neighborAlltoallv(four(), [2, 2], { sendDispls }),
  ],
]

const malformed: readonly unknown[] = [
  ...[null, 'ab', [], new Array(2), [-1, 1], [Number.NaN, 1], [0.5, 1], [2 ** 31, 1], ['1', '1']],
  ...[[4n, 4n], new BigInt64Array(2), [Symbol('a'), 1], { length: Symbol('b') }],
]

/** What a call ends with for each of these lists, on each rank; both communicators can be used afterwards. */
const outcomes = (call: Call, lists: readonly unknown[] = [undefined]) =>
  onRanks({ ranks: 2, fabric: local({ processes: 2 }) }, async (world: Communicator) => {
    const graph = await world.createDistGraphAdjacent({ sources: [0, 1], destinations: [0, 1] })
    const ends: unknown[] = []
    for (const list of lists) {
      const end = async () => call(list as never, world, graph)
      ends.push(
        await end().then(
          () => undefined,
          (error: unknown) => error,
        ),
      )
      expect([await graph.allreduce(1, 'sum'), await world.allreduce(1, 'sum')]).toEqual([2, 2])
    }
    return ends
  })

const refusal = (message: RegExp, code = 'ERR_COUNT') => coded(code, expect.stringMatching(message))

describe('malformed lists are refused before anything is sent', () => {
  it.each([...forms, ...others])('by %s: %s', async (_, option, where, call) => {
    const refused = malformed.map(() => refusal(new RegExp(`${where}.*: ${option}`)))
    expect(await outcomes(call, malformed)).toEqual([refused, refused])
  })

  it('by neighborAlltoallwInit in place of buffers', async () => {
    const send = [four(), four()]
    const lists = [undefined, null, new Set(send)]
    const refused = lists.map(() => refusal(/neighborAlltoallwInit: expected/))
    const call: Call = (recv, _, graph) => graph.neighborAlltoallwInit(send, recv)
    expect(await outcomes(call, lists)).toEqual([refused, refused])
  })

  it('by worldRanks, if no array could hold them', async () => {
    const lists = [1e15, 0.5, 2 ** 32, Number.NaN, -1].map((length) => ({ length }))
    const refused = lists.map(() => coded('ERR_ARGUMENT'))
    expect(await outcomes((ranks, world) => world.worldRanks(ranks), lists)).toEqual([refused, refused])
  })
})

it('lists that need more memory than there is fail on their rank, after the exchange', async () => {
  const displs = [2 ** 31 - 1, 0]
  const ends = await outcomes((_, __, graph) =>
    graph.neighborAllgatherv(new Float64Array(4), graph.rank === 0 ? { displs } : {}),
  )
  expect(ends).toEqual([[coded('ERR_COUNT')], [undefined]])
})

it('values stand in messages as programs write them', async () => {
  const messageOf = async (call: Call) => ((await outcomes(call))[0]![0] as Error).message
  expect(await messageOf((_, world) => world.allgatherv(four(), { counts: [4n, 4n] as never }))).toBe(
    'allgatherv: counts[0] must be an integer from 0 to 2^31 - 1, got 4n',
  )
  expect(await messageOf((_, __, graph) => graph.neighborAllgather(four(), { into: null as never }))).toBe(
    'neighborAllgather: expected a typed array to receive into, got null',
  )
})
