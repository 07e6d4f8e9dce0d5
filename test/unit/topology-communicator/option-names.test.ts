import { describe, expect, it } from 'vitest'
import type { Communicator } from '../../../src/comm/communicator.js'
import { collectiveForms } from '../../../src/conformance/collective-forms.js'
import { callByName } from '../../../src/conformance/forms.js'
import { neighborForms } from '../../../src/conformance/neighbor-forms.js'
import '../../../src/entry/index.js'
import { local } from '../../../src/fabric/local/local.js'
import { run } from '../../../src/launch/run.js'
import { Request, waitall, waitany, waitsome } from '../../../src/messages/p2p/request.js'
import type { TopologyCommunicator } from '../../../src/topology-communicator/topology-communicator.js'

const refused = expect.objectContaining({
  code: 'ERR_ARGUMENT',
  message: expect.stringContaining('expected options among'),
})

/** Two ranks on two processes: what one of them sent too early, the other would find. */
const inPair = <T>(main: (world: Communicator, graph: TopologyCommunicator) => Promise<T>) =>
  run(
    async (world: Communicator) => {
      const edges = [0, 1]
      return main(world, await world.createDistGraphAdjacent({ sources: edges, destinations: edges }))
    },
    { ranks: 2, fabric: local({ processes: 2 }) },
  )

const outcomeOf = async (call: () => unknown): Promise<unknown> => {
  try {
    const made = await call()
    return made instanceof Request ? await made.wait() : 'accepted'
  } catch (error) {
    return error
  }
}

/** The arguments of a call with one more option. */
const withOption = (args: readonly unknown[], option: object) => {
  const last = args.at(-1)
  const isOptions =
    typeof last === 'object' && last !== null && Object.getPrototypeOf(last) === Object.prototype
  return isOptions ? [...args.slice(0, -1), { ...last, ...option }] : [...args, option]
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
      { comm, name, args: call },
      { comm, name: `i${name}`, args: call },
      { comm, name: `${name}Init`, args: init },
    ])
  })
}

/** An option that other calls have, and this one has not. */
const foreignTo = (name: string) => (/eighbor/.test(name) ? { algorithm: 'x' } : { sendTag: 1 })

describe('options that a call does not have are refused before anything is sent', () => {
  it.each(['misspelt', 'foreign'])('every form of every collective: %s', async (kind) => {
    const outcomes = await inPair(async (world, graph) => {
      const accepted: string[] = []
      for (const { comm, name, args } of formsOf(world, graph)) {
        const option = kind === 'misspelt' ? { ordr: 'any' } : foreignTo(name)
        const outcome = await outcomeOf(() => callByName(comm, name, withOption(args, option)))
        if (!refused.asymmetricMatch(outcome)) accepted.push(`${name}: ${outcome}`)
      }
      return [accepted, await graph.allreduce(1, 'sum'), await world.allreduce(1, 'sum')]
    })
    expect(outcomes).toEqual([
      [[], 2, 2],
      [[], 2, 2],
    ])
  })

  it('names that are inherited are not options, and those of a prototype are not given', async () => {
    const outcomes = await inPair(async (world) => [
      await outcomeOf(() => world.barrier({ constructor: 1 } as object)),
      await outcomeOf(() => world.barrier(Object.create({ ordr: 1 }))),
    ])
    for (const outcome of outcomes) expect(outcome).toEqual([refused, 'accepted'])
  })

  const none = { ordr: 'any' } as object
  type Call = (world: Communicator, graph: TopologyCommunicator) => unknown
  const others: Readonly<Record<string, Call>> = {
    'barrier into': (world) => world.barrier({ into: new Float64Array(1) } as object),
    send: (world) => world.send(1, world.rank, 0, none),
    ssend: (world) => world.ssend(1, world.rank, 0, none),
    isend: (world) => world.isend(1, world.rank, 0, none),
    issend: (world) => world.issend(1, world.rank, 0, none),
    recv: (world) => world.recv(world.rank, 0, none),
    irecv: (world) => world.irecv(world.rank, 0, none),
    probe: (world) => world.probe(world.rank, 0, none),
    'probe into': (world) => world.probe(world.rank, 0, { into: new Float64Array(1) } as object),
    mprobe: (world) => world.mprobe(world.rank, 0, none),
    sendrecv: (world) => world.sendrecv(1, world.rank, world.rank, { tag: 3 } as object),
    dup: (world) => world.dup(none),
    create: async (world) => world.create(await world.group(), none),
    split: (world) => world.split(0, 0, none),
    splitType: (world) => world.splitType('node', 0, none),
    'splitType sorters': (world) => world.splitType('node', 0, { sorters: 1 } as object),
    free: (_, graph) => graph.free(none),
    'dup of a graph': (_, graph) => graph.dup(none),
    plan: (_, graph) => graph.plan({ byte: 4 } as object),
    'plan operation': (_, graph) => graph.plan({ operation: 'neighbor-alltoall' } as object),
    choice: (_, graph) => graph.choice({ byte: 4 } as object),
    planLines: (_, graph) => graph.planLines(0, none),
    wait: (world) => world.isend(1, world.rank, 1).wait(none),
    waitall: (world) => waitall([world.isend(1, world.rank, 1)], none),
    waitany: (world) => waitany([world.isend(1, world.rank, 1)], none),
    waitsome: (world) => waitsome([world.isend(1, world.rank, 1)], none),
    'start of a persistent collective': (world) => world.barrierInit().start(none),
  }

  it.each(Object.entries(others))('%s', async (_, call) => {
    const outcomes = await inPair(async (world, graph) => {
      const outcome = await outcomeOf(() => call(world, graph))
      return [outcome, await graph.allreduce(1, 'sum'), await world.allreduce(1, 'sum')]
    })
    for (const outcome of outcomes) expect(outcome).toEqual([refused, 2, 2])
  })

  it('a matched message', async () => {
    const outcomes = await inPair(async (world) => {
      await world.send(5, world.rank, 1)
      const matched = await world.mprobe(world.rank, 1)
      const outcome = await outcomeOf(() => matched.recv(none))
      return [outcome, (await matched.recv()).data]
    })
    for (const outcome of outcomes) expect(outcome).toEqual([refused, 5])
  })

  it('a split that is repeated', async () => {
    const outcomes = await inPair(async (world) => {
      await world.split(0, 0, { algorithm: 'merging' })
      return outcomeOf(() => world.split(0, 0, { algorithm: 'merging', ...none }))
    })
    for (const outcome of outcomes) expect(outcome).toEqual(refused)
  })
})
