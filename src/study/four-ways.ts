import type { Machine } from '../machine/machine.js'
import { plan } from '../neighborhood/plan/plan.js'
import type { Strategy } from '../neighborhood/strategies/strategy.js'
import { formatStrategy } from '../neighborhood/strategies/strategy-text.js'
import type { ProcessTopology } from '../topology/process-topology.js'
import { autoChoice, type StudySteps, studiedStrategy } from './studied-strategy.js'
import type { FourWays, StudiedStrategy, Way } from './study.js'

interface WaysSetting extends StudySteps {
  readonly machine: Machine
  readonly nodes: Int32Array
  readonly bytes: readonly number[]
}

/** A topology with the strategies studied and chosen for it. */
interface KnownTopology {
  readonly topology: ProcessTopology
  /** The choice of `auto` for every length; empty if it is not known. */
  readonly chosen: readonly Strategy[]
  readonly studied: readonly StudiedStrategy[]
}

/**
 * Returns the times of a neighbor allgather for every length: with and without a mapping, each with direct sends and
 * with the choice of `auto`.
 *
 * @param given the topology before the mapping
 * @param mapped the topology after it
 */
export function fourWays(given: ProcessTopology, mapped: KnownTopology, setting: WaysSetting): FourWays[] {
  const before = waysOf({ topology: given, chosen: [], studied: [] }, setting)
  const after = waysOf(mapped, setting)
  return setting.bytes.map((bytes, i) => ({
    bytes,
    neither: before.direct[i],
    mapping: after.direct[i],
    combining: before.chosen[i],
    both: after.chosen[i],
  }))
}

interface Ways {
  readonly direct: readonly Way[]
  readonly chosen: readonly Way[]
}

function waysOf(known: KnownTopology, setting: WaysSetting): Ways {
  const { topology } = known
  const { machine, nodes, bytes } = setting
  const figures = new Map(known.studied.map((each) => [each.strategy, each]))
  const figuresOf = (strategy: Strategy): StudiedStrategy => {
    const text = formatStrategy(strategy)
    const studied =
      figures.get(text) ??
      studiedStrategy(text, plan(topology, strategy, { nodeOf: nodes }), {
        machine,
        nodes,
        bytes,
        direct: null,
      })
    figures.set(text, studied)
    return studied
  }
  const chosen =
    known.chosen.length > 0
      ? known.chosen
      : bytes.map((length) => autoChoice(topology, machine, length, setting))
  const direct = figuresOf({ kind: 'direct' })
  return {
    direct: bytes.map((_, i) => wayOf(direct, i)),
    chosen: chosen.map((strategy, i) => wayOf(figuresOf(strategy), i)),
  }
}

function wayOf({ strategy, messages, simulated }: StudiedStrategy, i: number): Way {
  const { all, betweenNodes } = messages
  return { strategy, timeUs: simulated[i].timeUs, messages: all, betweenNodes }
}
