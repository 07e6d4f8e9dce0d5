import { simulate } from '../cost/simulate/simulate.js'
import type { Machine } from '../machine/machine.js'
import { type Level, levels } from '../machine/profile.js'
import { chooseStrategy } from '../neighborhood/choose/choose-strategy.js'
import { startsUntilPaid } from '../neighborhood/choose/simulated.js'
import { planStatistics } from '../neighborhood/plan/plan.js'
import type { Plan, Strategy } from '../neighborhood/strategies/strategy.js'
import { lower } from '../schedule/lower/lower.js'
import { upTo } from '../schedule/specification.js'
import type { ProcessTopology } from '../topology/process-topology.js'
import type { SimulatedTime, StudiedStrategy } from './study.js'

/** The signal and the progress callback of a study. */
export interface StudySteps {
  readonly signal?: AbortSignal
  readonly onStrategy?: (strategy: string) => void
}

/** Returns the choice of `rankweave plan --strategy auto` for blocks of this length. */
export function autoChoice(
  topology: ProcessTopology,
  machine: Machine,
  bytes: number,
  { onStrategy, signal }: StudySteps,
): Strategy {
  onStrategy?.(`what auto chooses for ${bytes} bytes`)
  return chooseStrategy(topology, machine, { bytes, ...(signal && { signal }) }).strategy
}

/** The setting for which the figures of strategies are found. */
interface FiguresSetting {
  readonly machine: Machine
  readonly nodes: Int32Array
  readonly bytes: readonly number[]
  /** The figures of direct sends; null while these themselves are studied. */
  readonly direct: StudiedStrategy | null
}

/** Returns the figures of a strategy that was planned. @param text of the strategy */
export function studiedStrategy(text: string, planned: Plan, setting: FiguresSetting): StudiedStrategy {
  const { machine, nodes, bytes, direct } = setting
  const { messages } = planStatistics(planned, nodes)
  const lowered = lower(planned.schedule, upTo(nodes.length))
  const { planMs } = planned
  const ofOneByte = () => simulate(lowered, machine, { bytes: 1 }).traffic
  const simulated = bytes.map((length, i): SimulatedTime => {
    const { timeUs, traffic } = simulate(lowered, machine, { bytes: length })
    const ofDirect = direct?.simulated[i].timeUs ?? timeUs
    const moreMs = Math.max(0, planMs - (direct?.planMs ?? planMs))
    return {
      bytes: length,
      timeUs,
      bytesByLevel: byLevel((level) => traffic[level].bytes),
      speedup: timeUs === 0 ? 1 : ofDirect / timeUs,
      breakEvenStarts: startsUntilPaid(moreMs, ofDirect - timeUs),
    }
  })
  const longest = simulated[simulated.length - 1]
  const blocks = byLevel((level) =>
    longest.bytes === 0 ? ofOneByte()[level].bytes : longest.bytesByLevel[level] / longest.bytes,
  )
  return {
    strategy: text,
    messages: {
      all: messages.planned,
      meanPerRank: messages.meanPerRank,
      maxPerRank: messages.maxPerRank,
      betweenNodes: messages.interNode ?? 0,
    },
    blocks,
    simulated,
    planMs,
  }
}

function byLevel(of: (level: Level) => number): Record<Level, number> {
  return Object.fromEntries(levels.map((level) => [level, of(level)])) as Record<Level, number>
}
