import type { AppliedMapping } from '../../neighborhood/choose/mapped-topology.js'
import type { MappingObjective } from '../../topology/mapping/objectives.js'
import type { PlacementCosts } from '../../topology/mapping/placement-costs.js'
import { change, columns, figure, secondsText } from './reporter.js'
import { microseconds } from './simulation-report.js'

/** What a mapping has changed. */
export interface MappingReport {
  readonly objective: MappingObjective
  /** From what it was refined. */
  readonly start: string
  readonly before: PlacementCosts
  readonly after: PlacementCosts
  readonly seconds: number
}

const rows: readonly (readonly [MappingObjective, keyof PlacementCosts])[] = [
  ['pairs', 'pairs'],
  ['edges', 'edges'],
  ['hop-bytes', 'hopBytes'],
  ['busiest-node', 'busiestNode'],
]

export function mappingTable({ objective, start, before, after, seconds }: MappingReport): string {
  const lines = rows.map(([name, key]) => [
    `${name}${name === objective ? ' *' : ''}`,
    figure(before[key]),
    figure(after[key]),
    change(after[key], before[key]),
  ])
  const head = ['objective', 'before', 'after', '']
  return `${columns([head, ...lines])}\n  from ${start}, in ${secondsText(seconds)}`
}

/** One line on a mapping that was applied before planning. */
export function mappingRow({ map, start, before, after, isMapped, simulated }: AppliedMapping): string {
  const source = start === null ? map : `${map}, from ${start}`
  if (!isMapped && simulated === null) return `${source}: no rank moves, ${figure(before.pairs)} pairs`
  const pairs = `${figure(before.pairs)} pairs before, ${figure(after.pairs)} after`
  if (simulated === null) return `${source}: ${pairs} (${change(after.pairs, before.pairs)})`
  const [identity, mapped] = [simulated.identityUs, simulated.mappedUs].map(microseconds)
  const decision = isMapped
    ? `simulated ${identity} without, ${mapped} with it`
    : `not used, as it does not pay: simulated ${identity} without, ${mapped} with it`
  return `${source}: ${pairs}; ${decision}`
}
