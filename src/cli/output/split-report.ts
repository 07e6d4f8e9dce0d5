import { largestOf, smallestOf } from '../../base/search.js'
import type { PhaseCost } from '../../comm/split/split-meter.js'
import type { SplitShare } from '../program/split-program.js'
import { counted, figure, secondsText, table } from './reporter.js'

/** The JSON object of `rankweave split --json`. */
export interface SplitSummary {
  readonly ranks: number
  readonly communicators: number
  readonly algorithm: string
  /** The kind of the largest communicator's rank table; null if no rank has a color. */
  readonly table: string | null
  readonly sorters: number
  readonly tableGroup: number
  readonly fabric: string
  readonly processes: number
  readonly seconds: number
  /** The seconds of each phase, of the process where it took longest; 0 for phases that this split did not have. */
  readonly phases: Readonly<Record<string, number>>
  /** The number of messages between processes, in total. */
  readonly messages: number
  /** The bytes of the process with the most. */
  readonly bytesPerProcess: { readonly peak: number; readonly kept: number }
  /** The lookups of the checks: rows requested from other processes, messages for them, and cache hits. */
  readonly lookups: { readonly asked: number; readonly messages: number; readonly hits: number } | null
  readonly verified: boolean
  /**
   * The costs per phase with `--explain`: the seconds of the slowest process, and messages and payload bytes in total.
   */
  readonly explained?: Readonly<Record<string, PhaseCost>>
}

export function splitOutcome(
  shares: readonly SplitShare[],
  world: { readonly ranks: number; readonly fabric: string; readonly explain: boolean },
): SplitSummary {
  const reports = shares.map(({ split }) => split)
  const described = shares.map(({ largest }) => largest).filter((each) => each !== null)
  const size = largestOf(described.map((each) => each.size))
  const lookups = shares.map((share) => share.lookups).filter((each) => each !== null)
  const { algorithm, sorters, tableGroup } = reports[0]
  const costs = costsByPhase(reports.map(({ phases }) => phases))
  const took = Object.entries(costs).map(([phase, cost]) => [phase, cost.seconds] as const)
  const began = smallestOf(shares.map(({ beganMs }) => beganMs))
  const ended = largestOf(shares.map(({ endedMs }) => endedMs))
  return {
    ranks: world.ranks,
    communicators: sum(shares.map(({ leads }) => leads)),
    algorithm,
    table: described.find((each) => each.size === size)?.table.kind ?? null,
    sorters,
    tableGroup,
    fabric: world.fabric,
    processes: shares.length,
    seconds: (ended - began) / 1000,
    phases: Object.fromEntries(took),
    messages: sum(Object.values(costs).map(({ messages }) => messages)),
    bytesPerProcess: {
      peak: largestOf(reports.map(({ peakBytes }) => peakBytes)),
      kept: largestOf(shares.map(({ retainedBytes }) => retainedBytes)),
    },
    lookups:
      lookups.length === 0
        ? null
        : {
            asked: sum(lookups.map(({ asked }) => asked)),
            messages: sum(lookups.map(({ messages }) => messages)),
            hits: sum(lookups.map(({ hits }) => hits)),
          },
    verified: shares.every(({ verified }) => verified),
    ...(world.explain ? { explained: costs } : {}),
  }
}

const nothing: PhaseCost = { seconds: 0, messages: 0, bytes: 0 }

/** Returns the costs of the four phases of every algorithm, then of its other phases. */
function costsByPhase(all: readonly Readonly<Record<string, PhaseCost>>[]): Record<string, PhaseCost> {
  const costs: Record<string, PhaseCost> = {
    collect: nothing,
    splitters: nothing,
    exchange: nothing,
    merge: nothing,
  }
  for (const phases of all) {
    for (const [phase, { seconds, messages, bytes }] of Object.entries(phases)) {
      const before = costs[phase] ?? nothing
      costs[phase] = {
        seconds: Math.max(before.seconds, seconds),
        messages: before.messages + messages,
        bytes: before.bytes + bytes,
      }
    }
  }
  return costs
}

function sum(values: readonly number[]): number {
  return values.reduce((a, b) => a + b, 0)
}

export function splitText(outcome: SplitSummary): string {
  const { bytesPerProcess, lookups, explained } = outcome
  const rows: [string, string][] = [
    [
      'ranks',
      `${figure(outcome.ranks)} on ${counted(outcome.processes, 'process', 'processes')}, ${outcome.fabric} fabric`,
    ],
    ['communicators', figure(outcome.communicators)],
    ['algorithm', `${outcome.algorithm}, ${outcome.table ?? 'no'} table`],
    ['time', secondsText(outcome.seconds)],
    ['messages', figure(outcome.messages)],
    ['peak memory', `${figure(bytesPerProcess.peak)} bytes per process`],
    ['retained memory', `${figure(bytesPerProcess.kept)} bytes per process`],
    ['verified', outcome.verified ? 'yes' : 'NO'],
  ]
  if (explained !== undefined) {
    // These algorithms have no sorters: every process gets the whole table.
    if (outcome.algorithm !== 'conventional' && outcome.algorithm !== 'merging') {
      rows.push([
        'sorters',
        `${outcome.sorters}, one rank table per ${counted(outcome.tableGroup, 'process', 'processes')}`,
      ])
    }
    for (const [phase, cost] of Object.entries(explained)) {
      const said = `${secondsText(cost.seconds)}, ${counted(cost.messages, 'message', 'messages')}, ${figure(cost.bytes)} bytes`
      rows.push([`  ${phase}`, said])
    }
    if (lookups !== null) {
      const { asked, messages, hits } = lookups
      rows.push([
        'lookups',
        `${figure(asked)} rows requested in ${counted(messages, 'message', 'messages')}, ${counted(hits, 'cache hit', 'cache hits')}`,
      ])
    }
  }
  return table(rows)
}
