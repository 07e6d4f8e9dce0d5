import { expect, it } from 'vitest'
import { Communicator } from '../../../src/comm/communicator.js'
import { run } from '../../../src/launch/run.js'

const one = () => Float64Array.of(1)

type Call = (world: Communicator, options: never) => unknown

/** Collectives with what precedes their options, on a world of one rank. */
const collectives: Readonly<Record<string, readonly unknown[]>> = {
  barrier: [],
  bcast: [one(), 0],
  reduce: [one(), 'sum', 0],
  allreduce: [one(), 'sum'],
  gather: [one(), 0],
  gatherv: [one(), 0],
  scatter: [one(), 0],
  scatterv: [one(), [1], 0],
  allgather: [one()],
  allgatherv: [one()],
  alltoall: [one()],
  alltoallv: [one(), [1]],
  reduceScatter: [one(), 'sum'],
  scan: [one(), 'sum'],
  exscan: [one(), 'sum'],
}
/** Collectives whose first argument after the data is one for each rank, too. */
const listed = new Set(['scatterv', 'alltoallv'])

/** Persistent collectives: the array that is filled follows the data, or the counts. */
const inits: Readonly<Record<string, readonly unknown[]>> = {
  barrierInit: [],
  bcastInit: [one(), 0],
  scatterInit: [one(), one(), 0],
  scattervInit: [one(), [1], one(), 0],
  gatherInit: [one(), one(), 0],
  gathervInit: [one(), one(), 0],
  allgatherInit: [one(), one()],
  allgathervInit: [one(), one()],
  alltoallInit: [one(), one()],
  alltoallvInit: [one(), [1], one()],
  reduceInit: [one(), one(), 'sum', 0],
  allreduceInit: [one(), one(), 'sum'],
  reduceScatterInit: [one(), one(), 'sum'],
  scanInit: [one(), one(), 'sum'],
  exscanInit: [one(), one(), 'sum'],
}

const method =
  (name: string, args: readonly unknown[]): Call =>
  (world, options) =>
    (world as never as Record<string, (...all: unknown[]) => unknown>)[name]!(...args, options)

const joint =
  (name: string, [data, counts, ...rest]: readonly unknown[]): Call =>
  (world, options) => {
    const lists = data === undefined ? [] : [[data], ...(listed.has(name) ? [[counts]] : [counts])]
    const args = lists.length > 0 && counts === undefined ? lists.slice(0, 1) : lists
    const all = Communicator as never as Record<string, (...all: unknown[]) => unknown>
    return all[`${name}All`]!([world], ...args, ...rest, options)
  }

const calls: readonly (readonly [string, Call])[] = [
  ...Object.entries(collectives).flatMap(([name, args]): (readonly [string, Call])[] => [
    [name, method(name, args)],
    [`i${name}`, method(`i${name}`, args)],
    [`${name}All`, joint(name, args)],
  ]),
  ...Object.entries(inits).map(([name, args]) => [name, method(name, args)] as const),
  ['start', (world, options) => world.allreduceInit(one(), one(), 'sum').start(options)],
  ['split', (world, options) => world.split(0, 0, options)],
  ['splitAll', (world, options) => Communicator.splitAll([world], [0], null, options)],
  ['splitType', (world, options) => world.splitType('node', 0, options)],
  ['dup', (world, options) => world.dup(options)],
  ['create', async (world, options) => world.create(await world.group(), options)],
  ['free', async (world, options) => (await world.dup()).free(options)],
  ['send', (world, options) => world.send(1, 0, 0, options)],
  ['isend', (world, options) => world.isend(1, 0, 0, options)],
  ['recv', (world, options) => world.recv(0, 0, options)],
  ['irecv', (world, options) => world.irecv(0, 0, options)],
  ['sendrecv', (world, options) => world.sendrecv(1, 0, 0, options)],
  ['probe', (world, options) => world.probe(0, 0, options)],
  ['mprobe', (world, options) => world.mprobe(0, 0, options)],
  ['wait', (world, options) => world.ibarrier().wait(options)],
]

it.each(calls)('%s refuses what is not an object of options, null included', async (_name, call) => {
  const codes = await run(
    async (world) => {
      const found: unknown[] = []
      for (const odd of [null, 7, 'fast', true])
        found.push(
          await (async () => call(world, odd as never))().then(
            () => 'no error',
            ({ code, message }) => `${code}: ${/expected an object of options, got/.test(message)}`,
          ),
        )
      return found
    },
    { ranks: 1 },
  )
  expect(codes[0]).toEqual(new Array(4).fill('ERR_ARGUMENT: true'))
})
