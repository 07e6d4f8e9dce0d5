import { type CallPlace, placesText } from '../calls/matching/call-report.js'
import { plainLane } from '../calls/matching/lane.js'
import type { WorldLayout } from '../messages/process/world-layout.js'
import {
  type CollectiveState,
  countOf,
  limited,
  type OpenCollective,
  type ProcessState,
  pointToPointLines,
  queuedLines,
  type Ranges,
  rangesText,
  survivorLane,
  union,
} from './diagnosis.js'
import type { RunningWorld } from './world.js'

/** The facts about processes that reported no state. */
interface WorldFacts {
  readonly loading?: boolean
  readonly lost?: readonly number[]
  /** The processes that report separately. */
  readonly elsewhere?: readonly number[]
}

/**
 * Describes which ranks wait for what in a whole world, in a few lines however many ranks there are. Ranks that wait in
 * the same call share one line. For a collective, the ranks that have not called it are named.
 *
 * @param states by process; undefined for one that still loads its program, none for one that does not answer
 */
export function describeWorld(
  layout: WorldLayout,
  states: ReadonlyMap<number, ProcessState | undefined>,
  { loading = false, lost = [], elsewhere = [] }: WorldFacts = {},
): string {
  const known = [...states.values()].filter((state) => state !== undefined)
  const processes = `${layout.processes} ${layout.processes === 1 ? 'process' : 'processes'}`
  const lines = [`who waits for what, ${layout.ranks} ranks on ${processes}`]
  lines.push(`  ${countsText(layout, known)}`)
  for (let process = 0; process < layout.processes; process++) {
    const from = layout.firstRank[process]
    const to = layout.firstRank[process + 1]
    const ranks = from === to ? 'no ranks' : rangesText([from, to - 1])
    const state = states.get(process)
    if (state !== undefined) continue
    if (lost.includes(process)) lines.push(`  process ${process} (${ranks}) is lost`)
    else if (elsewhere.includes(process)) lines.push(`  process ${process} (${ranks}) reports separately`)
    else if (states.has(process)) lines.push(`  process ${process} (${ranks}) loads the program`)
    else if (!loading)
      lines.push(`  process ${process} (${ranks}) does not answer: it runs without awaiting anything`)
    else lines.push(`  process ${process} (${ranks}) does not answer while it loads the program`)
  }
  lines.push(
    ...limited(collectiveLines(known)),
    ...limited(pointToPointLines(known.flatMap(({ waits }) => waits))),
    ...limited(queuedLines(known.flatMap(({ queued }) => queued))),
  )
  return lines.join('\n')
}

/** Describes the processes that this thread hosts; processes elsewhere report separately. */
export function describeRunning(world: RunningWorld | undefined): string {
  if (world === undefined) return 'who waits for what: the world is being started'
  const known = new Map(world.states().map((state) => [state.process, state]))
  const others = Array.from({ length: world.layout.processes }, (_, process) => process).filter(
    (process) => !known.has(process),
  )
  return describeWorld(world.layout, known, world.whole ? { lost: others } : { elsewhere: others })
}

function countsText(layout: WorldLayout, states: readonly ProcessState[]): string {
  const running = union(states.map((state) => state.running))
  const ended = union(states.map((state) => state.ended))
  const [runs, ends] = [countOf(running), countOf(ended)]
  let here = 0
  for (const { process } of states) here += layout.firstRank[process + 1] - layout.firstRank[process]
  const named = (count: number, ranges: Ranges) => (count === 0 ? '' : ` (${rangesText(ranges)})`)
  return `${here - runs - ends} blocked, ${runs} running${named(runs, running)}, ${ends} finished${named(ends, ended)}`
}

interface OpenCall {
  readonly call: string
  readonly waiting: Map<number, readonly number[]>
  readonly places: CallPlace[]
}

/** A lane of a communicator according to all processes that answered. */
interface Lane {
  readonly communicator: string
  readonly lane: number
  readonly size: number
  readonly parts: CollectiveState[]
  readonly open: Map<number, OpenCall>
}

function collectiveLines(states: readonly ProcessState[]): string[] {
  const lanes = new Map<string, Lane>()
  for (const { process, collectives } of states) {
    for (const part of collectives) {
      const { communicator, lane, size, open } = part
      const key = `${communicator} ${lane}`
      const whole: Lane = lanes.get(key) ?? { communicator, lane, size, parts: [], open: new Map() }
      lanes.set(key, whole)
      whole.parts.push(part)
      for (const each of open) noteOpen(whole, process, each)
    }
  }
  const lines: string[] = []
  for (const lane of lanes.values()) {
    for (const seq of [...lane.open.keys()].sort((a, b) => a - b)) lines.push(collectiveLine(lane, seq))
  }
  return lines
}

function noteOpen(lane: Lane, process: number, { seq, call, awaited, places }: OpenCollective): void {
  const open: OpenCall = lane.open.get(seq) ?? { call, waiting: new Map(), places: [] }
  lane.open.set(seq, open)
  open.places.push(...places)
  if (awaited.length > 0) open.waiting.set(process, awaited)
}

type Progress = CollectiveState['progress'][number]

/** Returns `ranks 0-1`, with their numbers in the world if these differ. */
function numberedText(parts: readonly Progress[]): string {
  const ranks = union(parts.map((part) => part.ranks))
  const worldRanks = union(parts.map((part) => part.worldRanks))
  const isSame = parts.every((part) => String(part.ranks) === String(part.worldRanks))
  return isSame ? rangesText(ranks) : `${rangesText(ranks)} (world ${rangesText(worldRanks)})`
}

function laneText(lane: number): string {
  if (lane === plainLane) return ''
  return lane === survivorLane ? ' of the survivors' : ` of persistent operation ${lane}`
}

function collectiveLine({ communicator, lane, size, parts, open }: Lane, seq: number): string {
  const { call, waiting, places } = open.get(seq)!
  const called: Progress[] = []
  const missing: Progress[] = []
  for (const { progress } of parts) {
    for (const same of progress) (((same.calls - seq) | 0) > 0 ? called : missing).push(same)
  }
  const arrived = union(called.map(({ ranks }) => ranks))
  const absent = union(missing.map(({ ranks }) => ranks))
  const unknown = size - countOf(arrived) - countOf(absent)
  const number = `#${seq}${laneText(lane)}`
  const where = `${call} ${number} on ${communicator} of ${size} ranks`
  const facts: string[] = []
  if (absent.length > 0) facts.push(`not called by ${numberedText(missing)}`)
  if (unknown > 0) facts.push(`state unknown: ${unknown} ranks`)
  facts.push(absent.length + unknown === 0 ? 'called by every rank' : `called by ${numberedText(called)}`)
  if (absent.length + unknown === 0) {
    for (const [process, others] of waiting) {
      facts.push(
        `process ${process} waits for data from ${others.map((other) => `process ${other}`).join(', ')}`,
      )
    }
  }
  return `${where}: ${facts.join('; ')}${placesText(places)}`
}
