import { type RunOptions, run } from 'rankweave'
import { describe, expect, it } from 'vitest'
import { algorithms } from '../../../../src/collective/algorithms.js'
import { parseMachine } from '../../../../src/machine/machine-text.js'
import type { Collective } from '../../../../src/schedule/specification.js'
import type { TuningFile } from '../../../../src/tuning/models/tuning-file.js'
import { compiledUrl } from '../../../support/compiled.js'
import { type CallCount, countedCollectives, type NamedAlgorithms } from '../../../support/counted-calls.js'
import { isSoak } from '../../../support/soak.js'
import { treeByBytes, tuningFileOf } from '../../../support/tuning-files.js'

const collectives = [...new Set(algorithms.map(({ collective }) => collective))]

/** One setting for every call of each collective. */
const always = (lineOf: (collective: Collective) => string): TuningFile =>
  tuningFileOf(Object.fromEntries(collectives.map((each) => [each, treeByBytes(each, [lineOf(each)])])))

/** One for each collective. */
const named: NamedAlgorithms = {
  ...{ barrier: 'barrier-tree', bcast: 'bcast-chain:fanout=2', scatter: 'scatter-binomial' },
  ...{ gather: 'gather-binomial', allgather: 'allgather-ring', alltoall: 'alltoall-pairwise' },
  ...{ reduce: 'reduce-chain', allreduce: 'allreduce-ring', 'reduce-scatter': 'reduce-scatter-ring' },
  ...{ scan: 'scan-chain', exscan: 'exscan-chain' },
}

type World = Pick<RunOptions, 'tuning' | 'machine'> & {
  readonly fabric: 'local' | 'threads'
  readonly processes: number
}

/** What the calls on every process sent: without messages about who waits, which depend on time. */
const countsOf = (world: World, named: NamedAlgorithms = {}) =>
  run<CallCount[], NamedAlgorithms>(compiledUrl('counted-calls.ts'), {
    ...{ tuning: null, ...world, ranks: world.processes, args: named, detectDeadlock: false },
  })

const worlds: readonly World[] = [
  { fabric: 'local', processes: 4 },
  { fabric: 'threads', processes: 4 },
  { fabric: 'local', processes: 11 },
]

describe.each(isSoak ? worlds : worlds.slice(0, 1))('$processes processes on $fabric', (world) => {
  it('send the same messages without a tuning file and with one that leaves calls to the rule', async () => {
    const without = await countsOf(world)
    expect(await countsOf({ ...world, tuning: always(() => 'default') })).toEqual(without)
    // A version that does not know the setting leaves them, too.
    const unknown = always((collective) => `${collective}-of-the-future`)
    expect(await countsOf({ ...world, tuning: unknown })).toEqual(without)
  })

  it('send the same messages whether calls or a tuning file name algorithms', async () => {
    const tuning = always((collective) => named[collective] ?? 'default')
    expect(await countsOf({ ...world, tuning })).toEqual(await countsOf(world, named))
  })
})

it('processes that choose for themselves send the same messages on threads as where one thread chooses for all', async () => {
  // The rest has names here: the default rule knows which memory processes share.
  const chosen = isSoak ? collectives : ['allgather']
  const auto = { ...named, ...Object.fromEntries(chosen.map((each) => [each, 'auto'])) }
  const machine = parseMachine('torus:dims=4,profile=bluegene-p')
  // But for those of a bcast, whose head takes another way on each fabric, for named algorithms, too. Headers of
  // long messages differ between fabrics, so bytes do.
  const messagesOn = async (fabric: 'local' | 'threads') =>
    (await countsOf({ fabric, processes: 4, machine }, auto)).map((ofProcess) =>
      ofProcess.flatMap(({ call, frames }) => (call.startsWith('bcast') ? [] : [{ call, frames }])),
    )
  const messages = await messagesOn('threads')
  expect(messages).toEqual(await messagesOn('local'))
  expect(messages[0]!.length).toBeGreaterThan(countedCollectives.length)
})

it('calls of every collective that a tuning file decides are counted', () => {
  expect(collectives.toSorted()).toEqual(countedCollectives.toSorted())
})
