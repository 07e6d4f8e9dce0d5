import { pathToFileURL } from 'node:url'
import { local, run, threads } from 'rankweave'
import type { FabricFactory } from 'rankweave/fabric'
import { expect, it } from 'vitest'
import {
  drawnWalk,
  expectedTotals,
  ranksPerProcess,
  totalsOf,
  type Walked,
  walks,
} from '../support/collective-walk.js'
import { compiled } from '../support/compiled.js'
import { inTurn } from '../support/soak.js'
import type { Walk } from '../support/walked-calls.js'

type Fabric = (walk: Walk) => FabricFactory

const fabrics: Readonly<Record<string, Fabric>> = {
  'local with random delivery': (walk) =>
    local({ ranksPerProcess: ranksPerProcess(walk), seed: 20261122, scribble: true, faults: { delay: 3 } }),
  threads: (walk) => threads({ ranksPerProcess: ranksPerProcess(walk) }),
}

const processes: Readonly<Record<string, number>> = { 'local with random delivery': 33, threads: 12 }

const cases = Object.entries(fabrics).flatMap(([name, fabric]) =>
  inTurn([...walks, drawnWalk(processes[name]!)], 3).map(
    (walk) => [name, walk.processes, walk.mostRanks, walk.order, walk, fabric] as const,
  ),
)

it.each(cases)(
  'every algorithm on %s, %i processes and 1 to %i ranks in %s equals the oracle',
  async (_name, _processes, _most, _order, walk, fabric) => {
    const module = pathToFileURL(compiled('collective-walk.ts'))
    const factory = fabric(walk)
    const ranks = factory.ranksPerProcess!.reduce((sum, count) => sum + count, 0)
    // Half of the walks by rendezvous.
    const limits = walk.order === 'dealt' ? { eagerLimitBytes: 100 } : {}
    const walked = await run<Walked, Walk>(module, { ranks, fabric: factory, args: walk, ...limits })
    expect(totalsOf(walked)).toEqual({ ...expectedTotals(walk), compared: 0 })
  },
)
