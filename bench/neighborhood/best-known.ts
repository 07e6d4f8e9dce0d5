import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { atOnce } from '../../src/base/turn.js'
import { type Machine, nodeOf } from '../../src/machine/machine.js'
import { type CandidateLoads, candidateLoads, isGrouped } from '../../src/neighborhood/choose/candidates.js'
import { estimateUs } from '../../src/neighborhood/choose/estimate.js'
import { formatStrategy, type Strategy } from '../../src/neighborhood/strategies/strategies.js'
import type { ProcessTopology } from '../../src/topology/process-topology.js'
import { fastest, simulatedTimes } from './best-of.js'
import { candidatesOf } from './candidates.js'
import { machineOf, type RegretCase, regretCases, topologyOf } from './regret-cases.js'

/** The strategy with the least simulated time of all that were tried. */
export interface BestKnown {
  readonly case: string
  readonly strategy: string
  readonly timeUs: number
  readonly tried: number
}

export const nameOf = ({ topology, machine, bytes }: RegretCase): string => `${topology}|${machine}|${bytes}`

const file = new URL('regret-best.json', import.meta.url)

/**
 * What was found so far, by case: the search takes an hour, so it may be interrupted and continues where it
 * was.
 */
function readKnown(): Map<string, BestKnown> {
  const lines = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as BestKnown[]) : []
  return new Map(lines.map((each) => [each.case, each]))
}

/** Finds the best of a case, and of all with its topology and nodes, or reads what was found before. */
export function bestKnown(of: RegretCase): BestKnown {
  const known = readKnown().get(nameOf(of))
  if (known !== undefined) return known
  const group = regretCases.filter((each) => each.topology === of.topology && layoutOf(each) === layoutOf(of))
  const found = search(group)
  const all = new Map([...readKnown(), ...found.map((each) => [each.case, each] as const)])
  const ordered = regretCases.map(nameOf).flatMap((name) => all.get(name) ?? [])
  writeFileSync(file, `${JSON.stringify(ordered, null, 2)}\n`)
  return found.find((each) => each.case === nameOf(of))!
}

const layoutOf = ({ machine }: RegretCase): string => machine.replace(/,profile=.*/, '')

/**
 * Simulates, for cases that share topology and nodes, all candidates of the library on 64 ranks; of those on
 * more ranks, which take up to seconds each, the 60 (256 ranks) or 25 (1,024) that the estimate of any of the
 * cases puts first, and the best two of every kind; and the strategies of {@link candidatesOf} always.
 */
function search(group: readonly RegretCase[]): BestKnown[] {
  const [{ ranks, topology: name }] = group
  const topology = topologyOf(group[0])
  const runs = group.map((each) => ({ machine: machineOf(each), bytes: each.bytes }))
  const [{ machine }] = runs
  const loads = atOnce(candidateLoads(topology, nodeOf(machine, topology.ranks)))
  const most = ranks <= 64 ? Number.POSITIVE_INFINITY : ranks <= 256 ? 60 : 25
  const strategies = new Map<string, Strategy>()
  const add = (strategy: Strategy): void => {
    strategies.set(formatStrategy(strategy), strategy)
  }
  const setting = { topology: name, nodes: machine.cores.length, cores: machine.cores[0] }
  for (const strategy of candidatesOf(setting)) add(strategy)
  for (const run of runs) for (const strategy of firstOf(loads, run, topology, most)) add(strategy)
  const times = simulatedTimes(topology, [...strategies.values()], runs)
  return group.map((each, i) => {
    const { strategy, timeUs } = fastest(times[i])
    return { case: nameOf(each), strategy, timeUs, tried: times[i].length }
  })
}

function firstOf(
  { candidates }: CandidateLoads,
  { machine, bytes }: { readonly machine: Machine; readonly bytes: number },
  { ranks }: ProcessTopology,
  most: number,
): Strategy[] {
  const ranked = candidates
    // Friend groups of 1,024 ranks are planned for minutes, and are far from the best on fewer.
    .filter(({ strategy }) => !isGrouped(strategy) || ranks <= 256)
    .map(({ strategy, load }) => ({ strategy, us: estimateUs(load, machine, ranks, bytes) }))
    .sort((a, b) => a.us - b.us)
  const ofKind = new Map<string, number>()
  return ranked.flatMap(({ strategy }, place) => {
    const before = ofKind.get(strategy.kind) ?? 0
    ofKind.set(strategy.kind, before + 1)
    return place < most || before < 2 ? [strategy] : []
  })
}
