import { meanOf } from '../../base/search.js'
import type { SimulatedSearches } from '../../cost/simulate/queue-searches.js'
import type { Activity, PathStep, Simulation } from '../../cost/simulate/simulation.js'
import type { Machine } from '../../machine/machine.js'
import { profileOf, profileOrigin, profileRemark } from '../../machine/network.js'
import { levels } from '../../machine/profile.js'
import type { AppliedMapping } from '../../neighborhood/choose/mapped-topology.js'
import type { PlacementCosts } from '../../topology/mapping/placement-costs.js'
import {
  type MappingObjective,
  type PlacementObjective,
  simulatedTime,
} from '../../topology/mapping/problem.js'
import { change, columns, counted, figure, secondsText, table } from './result-rows.js'

/** Returns the rows of a simulation's table. @param first rows before those of the simulation */
export function simulationRows(
  { criticalPath, matching, timeUs, traffic, waitUs }: Simulation,
  machine: Machine,
  first: Parameters<typeof table>[0] = [],
): string {
  const wait = `mean ${microseconds(meanOf(waitUs))}, max ${microseconds(waitUs.reduce((a, b) => Math.max(a, b), 0))}`
  const rows = table([
    ...first,
    ['simulated time', microseconds(timeUs)],
    ['wait per rank', wait],
    ['critical path', pathText(criticalPath)],
    ['matching', matching === null ? null : searchesText(matching)],
    ...levels.map((level): readonly [string, string | null] => {
      const { messages, bytes } = traffic[level]
      const text = `${counted(messages, 'message', 'messages')}, ${counted(bytes, 'byte', 'bytes')}`
      return [levelLabels[level], messages === 0 ? null : text]
    }),
    ['profile', profileOrigin(profileOf(machine))],
  ])
  const remark = profileRemark(machine)
  return remark === null ? rows : `${rows}\n${remark}`
}

/** Returns `14,280 entries passed in 480 searches, 64 us in all, at most 4.3 us of a process`. */
function searchesText({ searches, entriesPassed, searchUs, mostSearchUs }: SimulatedSearches): string {
  const passed = `${counted(entriesPassed, 'entry', 'entries')} passed in ${counted(searches, 'search', 'searches')}`
  return `${passed}, ${microseconds(searchUs)} in all, at most ${microseconds(mostSearchUs)} of a process`
}

const levelLabels = {
  process: 'inside processes',
  package: 'inside packages',
  node: 'inside nodes',
  network: 'between nodes',
} as const

/** Returns the time of each activity on the path: `send 4.2 us, transfer 1.8 us`. */
function pathText(path: readonly PathStep[]): string {
  const sums = new Map<Activity, number>()
  for (const { activity, startUs, endUs } of path)
    sums.set(activity, (sums.get(activity) ?? 0) + endUs - startUs)
  const parts = [...sums]
    .sort(([, a], [, b]) => b - a)
    .map(([activity, us]) => `${activity} ${microseconds(us)}`)
  return parts.length === 0 ? 'empty' : parts.join(', ')
}

export function microseconds(us: number): string {
  return `${figure(us)} us`
}

/** The times of a strategy before and after a mapping, as JSON. */
export interface MappedTimes {
  readonly origin: 'simulated'
  readonly bytesPerBlock: number
  readonly before: TimedBy
  readonly after: TimedBy
  /** The number of swaps of two ranks that were simulated. */
  readonly swaps: number
  /** The profile of the costs with which times are simulated, and their provenance. */
  readonly profile: string
  /** The reason why the times are less certain than they look, or null. */
  readonly remark: string | null
}

/** A strategy as text, with its time. */
interface TimedBy {
  readonly strategy: string
  readonly timeUs: number
}

interface MappingReport {
  readonly objective: PlacementObjective
  /** The mapping from which it was refined. */
  readonly start: string
  readonly before: PlacementCosts
  readonly after: PlacementCosts
  readonly seconds: number
  /** The times that `simulated-time` alone has. */
  readonly simulated?: MappedTimes
}

const rows: readonly (readonly [MappingObjective, keyof PlacementCosts])[] = [
  ['pairs', 'pairs'],
  ['edges', 'edges'],
  ['hop-bytes', 'hopBytes'],
  ['busiest-node', 'busiestNode'],
]

export function mappingTable({ objective, start, before, after, seconds, simulated }: MappingReport): string {
  const lines = rows.map(([name, key]) => ({
    objective: `${name}${name === objective ? ' *' : ''}`,
    before: figure(before[key]),
    after: figure(after[key]),
    change: change(after[key], before[key]),
  }))
  const times = simulated === undefined ? [] : [timeLine(simulated)]
  const costs = columns(
    [...lines, ...times],
    [
      ['objective', (line) => line.objective],
      ['before', (line) => line.before],
      ['after', (line) => line.after],
      ['', (line) => line.change],
    ],
  )
  if (simulated === undefined) return `${costs}\n  from ${start}, in ${secondsText(seconds)}`
  const search = `${start}, ${counted(simulated.swaps, 'swap', 'swaps')} simulated, in ${secondsText(seconds)}`
  const { remark } = simulated
  return [costs, `  from ${search}`, timesText(simulated), ...(remark === null ? [] : [remark])].join('\n')
}

function timeLine({ before, after }: MappedTimes) {
  return {
    objective: `${simulatedTime} *`,
    before: microseconds(before.timeUs),
    after: microseconds(after.timeUs),
    change: change(after.timeUs, before.timeUs, 'less'),
  }
}

function timesText({ before, after, bytesPerBlock, profile }: MappedTimes): string {
  const by =
    before.strategy === after.strategy ? after.strategy : `${before.strategy} before, ${after.strategy} after`
  const blocks = counted(bytesPerBlock, 'byte', 'bytes')
  return table([
    ['blocks', `${blocks} each`],
    ['strategy', by],
    ['profile', profile],
  ])
}

/** Returns a line on a mapping that was applied before planning. */
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
