import type { ProcessFacts } from '../../src/messages/matching-queues/design.js'
import { matchingDesignNames, type NamedDesign } from '../../src/messages/matching-queues/designs.js'
import { partnerRetries } from '../../src/messages/matching-queues/partners.js'
import { countSources, MatchingReplay } from '../../src/messages/matching-queues/replay.js'
import {
  type MatchingWorkload,
  matchingWorkloadNames,
  workloadTrace,
} from '../../test/support/matching-workloads.js'
import type { Figure } from '../bench.js'
import { markdown } from '../markdown-table.js'

/** Processes of the generated traces. */
const sizes = [1024, 4096, 16_384] as const

/**
 * What the source prints of applications like these: by how much queue searches become faster than those of one list.
 * Measured on other machines, so beside our counts and never among them.
 *
 * @see Ghazimirsaeed 2019 §3.5, §4.6, §5.5, §6.6
 */
const printed: Readonly<Record<MatchingWorkload, string>> = {
  hotspot: 'FDS: clusters 44.2, partners 28, collectives 27 to 52, array list 2.9 and 4.5',
  'heavy-sources': 'AMG: partners 2.32, array list 1.44 and 1.17; LAMMPS: clusters 2.6',
  'short-collectives': 'Radix: collectives 1.15',
  'point-to-point': 'Nbody: partners 2.24 and 2.15',
  allreduce: 'MiniAMR: collectives 1.45 and 1.4',
}

interface Passed {
  readonly searches: number
  readonly entries: number
  readonly overheadBytes: number
}

/** Entries that searches of each design pass on synthetic workloads: counts, the same on every machine. */
export function* measureWorkloads(quick: boolean): Generator<Figure> {
  const rows: string[][] = []
  for (const workload of matchingWorkloadNames)
    for (const processes of quick ? sizes.slice(0, 1) : sizes) {
      const facts: ProcessFacts = {
        processes,
        counts: countSources(traceOf(workload, processes), { processes }),
      }
      const passed = new Map(
        matchingDesignNames.map((name) => [name, passedBy({ name } as NamedDesign, workload, facts)]),
      )
      const list = perSearch(passed.get('list')!)
      for (const [name, design] of passed) {
        const ours = perSearch(design)
        yield {
          ...{ case: `${workload}, ${processes} processes: ${name}`, unit: 'entries a search' },
          ...{ ours, peer: list, ratio: ours / list, target: null, met: null, runs: 1 },
          ...{
            workload,
            processes,
            design: name,
            searches: design.searches,
            overheadBytes: design.overheadBytes,
          },
        }
      }
      rows.push([
        workload,
        String(processes),
        ...[...passed.values()].map((one) => perSearch(one).toFixed(1)),
      ])
    }
  console.error(markdown(['workload', 'processes', ...matchingDesignNames], rows))
  for (const [workload, factors] of Object.entries(printed))
    console.error(`${workload}: the source prints ${factors}`)
  yield* measureRetries()
}

/** Partners that are looked for later, and at each insertion as algorithm 4.3 has it, where attempts find none. */
function* measureRetries(): Generator<Figure> {
  const facts: ProcessFacts = { processes: 1024 }
  for (const workload of matchingWorkloadNames) {
    const [later, always] = partnerRetries.map((retry) => {
      const begin = process.hrtime.bigint()
      const options = { population: 'nonzero', retry } as const
      const passed = passedBy({ name: 'partners-dynamic', options }, workload, facts)
      return { ...passed, ms: Number(process.hrtime.bigint() - begin) / 1e6 }
    })
    for (const [unit, of] of [
      ['entries a search', perSearch],
      ['ms', ({ ms }: typeof later) => ms],
    ] as const) {
      const [ours, peer] = [of(later), of(always)]
      yield {
        ...{ case: `${workload}, 1,024 processes: partners looked for later, against always`, unit },
        ...{ ours, peer, ratio: ours / peer, target: null, met: null, runs: 1, workload },
      }
    }
  }
}

function traceOf(workload: MatchingWorkload, processes: number) {
  return workloadTrace(workload, { processes })
}

function passedBy(design: NamedDesign, workload: MatchingWorkload, facts: ProcessFacts): Passed {
  const replay = new MatchingReplay(design, facts)
  for (const operation of traceOf(workload, facts.processes)) replay.apply(operation)
  const [posted, unexpected] = [replay.report('posted'), replay.report('unexpected')]
  return {
    searches: posted.searches + unexpected.searches,
    entries: posted.traversals + unexpected.traversals,
    overheadBytes: posted.overheadBytes + unexpected.overheadBytes,
  }
}

function perSearch({ entries, searches }: Passed): number {
  return entries / searches
}
