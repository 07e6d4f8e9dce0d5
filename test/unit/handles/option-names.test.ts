import { describe, expect, it } from 'vitest'
import { collectiveForms } from '../../../src/conformance/collective-forms.js'
import { neighborForms } from '../../../src/conformance/neighbor-checks.js'
import { local } from '../../../src/fabric/local/local.js'
import type { Communicator } from '../../../src/handles/communicator.js'
import { together } from '../../../src/handles/communicator.js'
import type { TopologyCommunicator } from '../../../src/handles/topology-communicator.js'
import { Request, waitall, waitany, waitsome } from '../../../src/messages/p2p/request.js'
import { coded, onRanks } from '../../support/on-ranks.js'

const refusal = (text: string) => coded('ERR_ARGUMENT', expect.stringContaining(text))
const unknownOption = refusal('expected options among')
const noObject = refusal('expected an object of options, got')

type Call = (world: Communicator, graph: TopologyCommunicator, options: never) => unknown

/** Two ranks on two processes: what one of them sent too early, the other would find. */
const inPair = <T>(main: (world: Communicator, graph: TopologyCommunicator) => Promise<T>) =>
  onRanks({ ranks: 2, fabric: local({ processes: 2 }) }, async (world) => {
    const edges = [0, 1]
    return main(world, await world.createDistGraphAdjacent({ sources: edges, destinations: edges }))
  })

const outcomeOf = async (call: () => unknown): Promise<unknown> => {
  try {
    const made = await call()
    return made instanceof Request ? await made.wait() : 'accepted'
  } catch (error) {
    return error
  }
}

/** The arguments of a call with one more option, or with something else instead of its options. */
function withOptions(args: readonly unknown[], options: unknown) {
  const last = args.at(-1)
  const hasOptions =
    typeof last === 'object' && last !== null && Object.getPrototypeOf(last) === Object.prototype
  const isObject = typeof options === 'object' && options !== null
  return [
    ...(hasOptions ? args.slice(0, -1) : args),
    hasOptions && isObject ? { ...last, ...options } : options,
  ]
}

/** Every collective of the world and of a graph in every form, with its arguments. */
function formsOf(world: Communicator, graph: TopologyCommunicator) {
  const { rank } = world
  const edges = { sent: [2 * rank, 2 * rank + 1], received: [rank, 2 + rank] }
  const sets = [
    { comm: world, forms: collectiveForms(world, 4) },
    { comm: graph, forms: neighborForms(graph, edges, 0, 4) },
  ]
  return sets.flatMap(({ comm, forms }) => {
    forms.fill(0)
    return Object.entries(forms.cases).flatMap(([name, [{ call, init }]]) => [
      { on: comm, name, args: call },
      { on: comm, name: `i${name}`, args: call },
      { on: comm, name: `${name}Init`, args: init },
    ])
  })
}

/** Calls that are no collectives on data. */
const others: Readonly<Record<string, Call>> = {
  send: (world, _, options) => world.send(1, world.rank, 0, options),
  ssend: (world, _, options) => world.ssend(1, world.rank, 0, options),
  isend: (world, _, options) => world.isend(1, world.rank, 0, options),
  issend: (world, _, options) => world.issend(1, world.rank, 0, options),
  recv: (world, _, options) => world.recv(world.rank, 0, options),
  irecv: (world, _, options) => world.irecv(world.rank, 0, options),
  probe: (world, _, options) => world.probe(world.rank, 0, options),
  mprobe: (world, _, options) => world.mprobe(world.rank, 0, options),
  sendrecv: (world, _, options) => world.sendrecv(1, world.rank, world.rank, options),
  dup: (world, _, options) => world.dup(options),
  create: async (world, _, options) => world.create(await world.group(), options),
  split: (world, _, options) => world.split(0, 0, options),
  'split together': (world, _, options) => together([world], (each) => each.split(0, 0, options)),
  'barrier together': (world, _, options) => together([world], (each) => each.barrier(options)),
  splitType: (world, _, options) => world.splitType('node', 0, options),
  free: (_, graph, options) => graph.free(options),
  'dup of a graph': (_, graph, options) => graph.dup(options),
  plan: (_, graph, options) => graph.plan(options),
  choice: (_, graph, options) => graph.choice(options),
  planLines: (_, graph, options) => graph.planLines(0, options),
  wait: (world, _, options) => world.isend(1, world.rank, 1).wait(options),
  waitall: (world, _, options) => waitall([world.isend(1, world.rank, 1)], options),
  waitany: (world, _, options) => waitany([world.isend(1, world.rank, 1)], options),
  waitsome: (world, _, options) => waitsome([world.isend(1, world.rank, 1)], options),
  'start of a persistent collective': (world, _, options) => world.barrierInit().start(options),
}

/** An option that other calls have, and this one has not. */
const foreignTo = (name: string) => (/eighbor/.test(name) ? { algorithm: 'x' } : { sendTag: 1 })

describe('what is no option of a call is refused before anything is sent', () => {
  it.each([
    ['a misspelt name', () => ({ ordr: 'any' }), unknownOption],
    ['the name of an option of other calls', foreignTo, unknownOption],
    ...[null, 7, 'fast', true].map((odd) => [`${odd}`, () => odd, noObject] as const),
  ] as const)('by every form of every call: %s', async (_, optionsFor, refused) => {
    const outcomes = await inPair(async (world, graph) => {
      const wrong: string[] = []
      const check = async (name: string, call: () => unknown) => {
        const outcome = await outcomeOf(call)
        if (!refused.asymmetricMatch(outcome)) wrong.push(`${name}: ${outcome}`)
      }
      for (const { on, name, args } of formsOf(world, graph))
        await check(name, () =>
          (Reflect.get(on, name) as (...all: unknown[]) => unknown).apply(
            on,
            withOptions(args, optionsFor(name)),
          ),
        )
      for (const [name, call] of Object.entries(others))
        if (optionsFor !== foreignTo) await check(name, () => call(world, graph, optionsFor(name) as never))
      return [wrong, await graph.allreduce(1, 'sum'), await world.allreduce(1, 'sum')]
    })
    for (const outcome of outcomes) expect(outcome).toEqual([[], 2, 2])
  })

  const into = new Float64Array(1)
  it.each<[string, Call]>([
    ['barrier into', (world) => world.barrier({ into } as object)],
    ['probe into', (world) => world.probe(world.rank, 0, { into } as object)],
    ['sendrecv tag', (world) => world.sendrecv(1, world.rank, world.rank, { tag: 3 } as object)],
    ['splitType sorters', (world) => world.splitType('node', 0, { sorters: 1 } as object)],
    ['plan operation', (_, graph) => graph.plan({ operation: 'neighbor-alltoall' } as object)],
    ['names that are inherited', (world) => world.barrier({ constructor: 1 } as object)],
    [
      'a split that is repeated',
      async (world) => {
        await world.split(0, 0, { algorithm: 'merging' })
        return world.split(0, 0, { algorithm: 'merging', ordr: 'any' } as object)
      },
    ],
  ])('%s', async (_, call) => {
    const outcomes = await inPair((world, graph) => outcomeOf(() => call(world, graph, undefined as never)))
    for (const outcome of outcomes) expect(outcome).toEqual(unknownOption)
  })

  it('by a matched message, which remains', async () => {
    const outcomes = await inPair(async (world) => {
      await world.send(5, world.rank, 1)
      const matched = await world.mprobe(world.rank, 1)
      const outcome = await outcomeOf(() => matched.recv({ ordr: 'any' } as object))
      return [outcome, (await matched.recv()).data]
    })
    for (const outcome of outcomes) expect(outcome).toEqual([unknownOption, 5])
  })
})

it('names of a prototype are not given', async () => {
  expect(await inPair((world) => outcomeOf(() => world.barrier(Object.create({ ordr: 1 }))))).toEqual([
    ...['accepted', 'accepted'],
  ])
})
