import { run } from 'rankweave'
import { describe, expect, it } from 'vitest'
import { algorithms } from '../../../src/collective/algorithms.js'
import type { Collective } from '../../../src/schedule/specification.js'
import type { TuningFile } from '../../../src/tuning/models/tuning-file.js'
import { compiledUrl } from '../../support/compiled.js'
import { type CallCount, countedCollectives, type NamedAlgorithms } from '../../support/counted-calls.js'
import { daily } from '../../support/soak.js'
import { treeByBytes, tuningFileOf } from '../../support/tuning-files.js'

const collectives = [...new Set(algorithms.map(({ collective }) => collective))]

/** One setting for every call of each collective. */
const always = (lineOf: (collective: Collective) => string): TuningFile =>
  tuningFileOf(Object.fromEntries(collectives.map((each) => [each, treeByBytes(each, [lineOf(each)])])))

/** What the calls on every process sent: without messages about who waits, which depend on time. */
const countsOf = (
  { fabric, processes }: { readonly fabric: 'local' | 'threads'; readonly processes: number },
  tuning: TuningFile | null,
  named: NamedAlgorithms = {},
) =>
  run<CallCount[], NamedAlgorithms>(compiledUrl('counted-calls.ts'), {
    ...{ ranks: processes, processes, fabric, tuning },
    ...{ args: named, detectDeadlock: false },
  })

const worlds = [
  { fabric: 'threads', processes: 4 },
  { fabric: 'local', processes: 4 },
  { fabric: 'local', processes: 11 },
] as const

describe.each(daily(worlds, 2))('$processes processes on $fabric', (world) => {
  it('send the same messages without a tuning file and with one that leaves calls to the rule', async () => {
    const without = await countsOf(world, null)
    expect(
      await countsOf(
        world,
        always(() => 'default'),
      ),
    ).toEqual(without)
    // A version that does not know the setting leaves them, too.
    expect(
      await countsOf(
        world,
        always((collective) => `${collective}-of-the-future`),
      ),
    ).toEqual(without)
  })

  it('send the same messages whether calls or a tuning file name algorithms', async () => {
    const named = {
      ...{ barrier: 'barrier-tree', bcast: 'bcast-chain:fanout=2', scatter: 'scatter-binomial' },
      ...{ gather: 'gather-binomial', allgather: 'allgather-ring', alltoall: 'alltoall-pairwise' },
      ...{ reduce: 'reduce-chain', allreduce: 'allreduce-ring', 'reduce-scatter': 'reduce-scatter-ring' },
      ...{ scan: 'scan-chain', exscan: 'exscan-chain' },
    } as const satisfies NamedAlgorithms
    const byFile = await countsOf(
      world,
      always((collective) => (named as NamedAlgorithms)[collective] ?? 'default'),
    )
    expect(byFile).toEqual(await countsOf(world, null, named))
  })
})

it('calls of every collective that a tuning file decides are counted', () => {
  expect(collectives.toSorted()).toEqual(countedCollectives.toSorted())
})
