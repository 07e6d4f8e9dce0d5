import type { CommRuntime } from '../comm/comm-state.js'
import { madeBy } from '../messages/process/comm-context.js'
import { pointToPointWaits, queuedLines, queuedMessages } from './diagnosis.js'
import { limited, pointToPointLines } from './diagnosis-waits.js'

const maxRanges = 16

/** Reports which ranks wait for what, and which have finished, in the processes hosted here. */
export function reportWaits(runtimes: readonly CommRuntime[]): string {
  const ended = endedRanks(runtimes)
  // The line says `of the world`, because other lines may number the ranks of other communicators.
  const lines = ended === '' ? [] : [`  finished: ${ended} of the world`]
  return [...limited(waitLines(runtimes)), ...lines].join('\n')
}

/**
 * Returns lines that state which ranks wait for what. Ranks in the same point-to-point call share one; each collective
 * of each process has one.
 */
export function waitLines(runtimes: readonly CommRuntime[]): string[] {
  const contexts = runtimes.flatMap((runtime) => [...runtime.contexts])
  const waits = contexts.map(pointToPointWaits)
  const calls = contexts.map((state) => [
    ...state.collectives.describeWaits(),
    ...(state.openedSurvival?.describeWaits() ?? []),
  ])
  const named = contexts.filter((_, n) => waits[n].length + calls[n].length > 0)
  return [
    ...pointToPointLines(waits.flat()),
    ...queuedLines(contexts.flatMap(queuedMessages)),
    ...calls.flat(),
    // Every process of the communicator has the same line.
    ...new Set(named.flatMap((state) => madeBy(state) ?? [])),
  ]
}

/** Counts the ranks of `runtimes` that are blocked, that have finished, and that run user code. */
export function tally(runtimes: readonly CommRuntime[]): { blocked: number; ended: number; awake: number } {
  let ended = 0
  let awake = 0
  let ranks = 0
  for (const { waits, hostedRanks } of runtimes) {
    ranks += hostedRanks
    awake += waits.awakeRanks
    for (let index = 0; index < hostedRanks; index++) if (waits.hasEnded(index)) ended++
  }
  return { blocked: ranks - ended - awake, ended, awake }
}

function endedRanks(runtimes: readonly CommRuntime[]): string {
  const ranges: string[] = []
  let from = -1
  let to = -1
  const flush = () => {
    if (from >= 0) ranges.push(from === to ? `rank ${from}` : `ranks ${from} to ${to}`)
  }
  for (const { waits, firstRank, hostedRanks } of runtimes) {
    for (let index = 0; index < hostedRanks; index++) {
      if (!waits.hasEnded(index)) continue
      const rank = firstRank + index
      if (rank !== to + 1 || from < 0) {
        flush()
        from = rank
      }
      to = rank
    }
  }
  flush()
  const shown = ranges.slice(0, maxRanges)
  if (ranges.length > shown.length) shown.push(`and ${ranges.length - shown.length} more ranges`)
  return shown.join(', ')
}
