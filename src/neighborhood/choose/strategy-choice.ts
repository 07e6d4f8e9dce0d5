import { RankweaveError } from '../../errors.js'
import type { Machine } from '../../machine/machine.js'
import { type GroupingEngine, refuseSimulation } from '../../topology/friends/grouping-options.js'
import type { Strategy } from '../strategies/strategy.js'
import { parseStrategy } from '../strategies/strategy-text.js'

/** The default of `--k`: reduces messages even where ranks have few common neighbors. */
export const defaultK = 2

/** A strategy in words: its text, and for `common-neighbor` what else defines it. */
export interface StrategyWords {
  readonly strategy: string
  readonly k: number
  readonly mode?: 'agnostic' | 'aware' | undefined
  readonly theta?: number | undefined
  readonly dedupe: boolean
  readonly elide: boolean
  readonly engine: GroupingEngine
  readonly labels?: number | undefined
  readonly machine?: Machine | undefined
}

export interface StrategyChoice {
  readonly strategy: Strategy
  readonly machine: Machine | null
}

/**
 * @throws ERR_USAGE for aware mode without a machine
 * @throws ERR_STRATEGY for the engine `distributed`, and for the text of no strategy
 */
export function requestedStrategy(options: StrategyWords): StrategyChoice {
  const machine = options.machine ?? null
  if (options.strategy !== 'common-neighbor') return { strategy: parseStrategy(options.strategy), machine }
  const mode = options.mode ?? (machine === null ? 'agnostic' : 'aware')
  if (mode === 'aware' && machine === null) {
    throw new RankweaveError('ERR_USAGE', '--mode aware: expected --machine, which defines the nodes')
  }
  const { k, theta, dedupe, elide, engine, labels } = options
  refuseSimulation('--engine', engine)
  const strategy: Strategy = {
    kind: 'common-neighbor',
    k,
    mode,
    dedupe,
    elide,
    ...(theta === undefined ? {} : { theta }),
    ...(engine === 'greedy' ? {} : { engine }),
    ...(labels === undefined ? {} : { labelSeed: labels }),
  }
  return { strategy, machine }
}
