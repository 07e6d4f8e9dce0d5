import { type Communicator, run } from 'rankweave'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import * as index from '../../../src/entry/index.js'
import * as schedule from '../../../src/entry/schedule.js'
import * as topology from '../../../src/entry/topology.js'
import { entries } from '../../support/entries.js'
import { type ExportedCall, exportedCalls } from '../../support/exported-calls.js'
import * as inside from '../../support/inner-functions.js'
import { badRefusalsInTime, consumed } from '../../support/odd-values.js'
import { refusal } from '../../support/refusal.js'

type Exported = ((...args: readonly unknown[]) => unknown) & (new (...args: readonly unknown[]) => unknown)

const modules: Readonly<Record<string, Readonly<Record<string, unknown>>>> = { ...entries, inside }

const functions = Object.entries(modules).flatMap(([entry, module]) =>
  Object.entries(module)
    .filter((each): each is [string, Exported] => typeof each[1] === 'function')
    // Pages get what the root has.
    .filter(
      ([name, exported]) => entry !== 'browser' || exported !== (index as Record<string, unknown>)[name],
    )
    .map(([name, exported]) => ({ entry, name, exported, call: exportedCalls[entry]?.[name] })),
)

const called = functions.filter(
  (each): each is (typeof functions)[number] & { readonly call: ExportedCall } =>
    typeof each.call === 'function',
)

let world: Communicator
let end: () => void
let ended: Promise<unknown>

beforeAll(async () => {
  const finish = new Promise<void>((resolve) => {
    end = resolve
  })
  await new Promise<void>((begun) => {
    const main = (own: Communicator) => {
      world = own
      begun()
      return finish
    }
    ended = run(main, { ranks: 1, detectDeadlock: false })
  })
})

afterAll(async () => {
  end()
  await ended
})

function made(exported: Exported, args: readonly unknown[]): unknown {
  return /^class\b/.test(String(exported)) ? new exported(...args) : exported(...args)
}

test('every function of every entry, and of those inside, has a call to be made with odd arguments, or a reason why not', () => {
  const missing = functions.filter(({ call }) => call === undefined)
  expect(missing.map(({ entry, name }) => `${entry}: ${name}`)).toEqual([])
  const left = Object.entries(exportedCalls).flatMap(([entry, calls]) =>
    Object.keys(calls).filter((name) => typeof modules[entry]?.[name] !== 'function'),
  )
  expect(left).toEqual([])
})

/** Those whose last argument is an object that users write. */
const ofOptions = [
  ...['erdosRenyiTopology', 'powerLawTopology', 'rmatTopology', 'smallWorldTopology', 'mooreTopology'],
  ...['randomGeometricTopology', 'stencilTopology', 'countHyperedges', 'groupFriends', 'simulateGrouping'],
  ...['topologyFromMatrix', 'cluster', 'clos', 'torus', 'cartTopology', 'treeAssociation'],
  ...['simulate', 'chooseStrategy', 'goalText', 'plan', 'strided', 'openWorld', 'upgradeHandler'],
  ...['chooseAlgorithm', 'mapTopology', 'mapBySimulatedTime'],
  ...['ServiceClient', 'createOperation'],
]

describe('what is refused is refused with a code, in a short message', () => {
  test.each(called)('$entry: $name', async ({ exported, call }) => {
    await consumed(await made(exported, call(world)))
    const bad: string[] = []
    for (let place = 0; place < call(world).length; place++) {
      const refusals = await badRefusalsInTime((odd) => made(exported, call(world).with(place, odd)))
      bad.push(...refusals.map((refusal) => `argument ${place}: ${refusal}`))
    }
    expect(bad).toEqual([])
  })

  test.each(called.filter(({ name }) => ofOptions.includes(name)))('members: $name', async (each) => {
    const { exported, call } = each
    const options = call(world).at(-1) as object
    for (const member of Object.keys(options)) {
      const odd = (value: unknown) => call(world).with(-1, { ...options, [member]: value })
      expect(await badRefusalsInTime((value) => made(exported, odd(value)))).toEqual([])
    }
  })
})

/** Those whose last argument is an object of options without required members. */
const optional = [
  ...[
    'findTranslations',
    'buildTopology',
    'verify',
    'formatSchedule',
    'commonNeighbors',
    'forecastCombining',
  ],
  ...[
    'adjacencySvg',
    'topologyFromGraph',
    'readMatrixMarket',
    'formatMatrixMarket',
    'parseMachine',
    'verifySlice',
  ],
  ...[
    'machineFromHostList',
    'machineFromHwloc',
    'machineFromSlurm',
    'timelineSvg',
    'traceEvents',
    'makeStudy',
  ],
  ...['fabricConformance', 'collectiveConformance'],
]
const takingOptions = [...ofOptions, ...optional].filter((name) => name !== 'cartTopology')
test.each(called.filter(({ name }) => takingOptions.includes(name)))(
  '$name refuses an option that it does not have',
  async ({ exported, call }) => {
    const args = call(world)
    const given = args.with(-1, { ...(args.at(-1) as object), unknwon: 1 })
    const refused = async () => consumed(await made(exported, given))
    await expect(refused()).rejects.toMatchObject(
      refusal('ERR_ARGUMENT', /: expected options among .*, got 'unknwon'/),
    )
  },
)

test('a tree of no participants is refused, as are first ranks that do not ascend', () => {
  const { treeAssociation } = schedule
  const refused = refusal('ERR_ARGUMENT')
  expect(() => treeAssociation({} as never)).toThrow(refused)
  expect(() => treeAssociation(0)).toThrow(refused)
  expect(() => treeAssociation(2, { firstRank: Int32Array.of(0, 0, 2) })).toThrow(refused)
})

test('neighbors of a rank that a topology does not have are refused', () => {
  const refused = refusal('ERR_RANK')
  const pair = topology.topologyFromEdges(2, { sources: [0], destinations: [1] })
  expect(() => topology.outNeighbors(pair, 2)).toThrow(refused)
  expect(() => topology.inNeighbors(pair, -1)).toThrow(refused)
})
