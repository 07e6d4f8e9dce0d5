import { chooseStrategy } from '../../src/neighborhood/choose/choose-strategy.js'
import type { BenchOptions, Figure } from '../bench.js'
import { bytesText } from '../message-plans.js'
import { bestKnown } from './best-known.js'
import { machineOf, type RegretCase, regretCases, topologyOf } from './regret-cases.js'

/**
 * How much longer the chosen strategy takes than the best of all that were tried, both by our simulator:
 * SimGrid would take hours. The two agree to about 1% (bench/simgrid). The best are retained in a file, see
 * `bestKnown`.
 */
export function* regrets({ quick = false }: BenchOptions): Iterable<Figure> {
  const cases = quick ? regretCases.filter(({ ranks }) => ranks === 64).slice(0, 12) : regretCases
  const found: { readonly regret: number; readonly name: string }[] = []
  for (const each of cases) {
    const figure = regretOf(each)
    found.push({ regret: (figure.ratio! - 1) * 100, name: figure.case })
    yield figure
  }
  const mean = found.reduce((sum, { regret }) => sum + regret, 0) / found.length
  const worst = found.reduce((most, each) => (each.regret > most.regret ? each : most))
  yield summary('regret of the choice: mean', mean, 5, found.length)
  yield { ...summary('regret of the choice: worst', worst.regret, 20, found.length), of: worst.name }
}

function regretOf(each: RegretCase): Figure {
  const { bytes } = each
  const best = bestKnown(each)
  const { chosen, considered } = chooseStrategy(topologyOf(each), machineOf(each), { bytes })
  // What is chosen need not be among those that were tried.
  const bestUs = Math.min(best.timeUs, chosen.timeUs)
  return {
    case: `${each.topology} on ${each.machine}, ${bytesText(bytes)}`,
    unit: 'us predicted',
    ours: chosen.timeUs,
    peer: bestUs,
    ratio: chosen.timeUs / bestUs,
    target: null,
    met: null,
    runs: 1,
    strategy: chosen.strategy,
    best: best.strategy,
    candidates: best.tried,
    considered,
  }
}

function summary(name: string, percent: number, target: number, cases: number): Figure {
  const met = percent <= target
  return { case: name, unit: '%', ours: percent, peer: null, ratio: null, target, met, runs: 1, cases }
}
