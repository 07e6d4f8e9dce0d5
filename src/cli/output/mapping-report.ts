import type { MappingObjective } from '../../topology/mapping/objectives.js'
import type { PlacementCosts } from '../../topology/mapping/placement-costs.js'
import { change, columns, figure, secondsText } from './reporter.js'

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
