import { wrongValue } from '../../errors.js'
import type { Collective } from '../../schedule/specification.js'
import { composedFormulas } from './composed-formulas.js'
import type { ModelledAlgorithm } from './formulas.js'
import { movementFormulas } from './movement-formulas.js'
import { reductionFormulas } from './reduction-formulas.js'

const rows = [...movementFormulas, ...reductionFormulas, ...composedFormulas]
const byId: ReadonlyMap<string, ModelledAlgorithm> = new Map(rows.map((row) => [row.id, row]))

/** An algorithm whose time is known in closed form. */
interface ModelledAlgorithmInfo {
  /** The registry's id if the algorithm has a schedule (`algorithmOf`), else one in the same style. */
  readonly id: string
  readonly collective: Collective
  /** The place in Pjesivac-Grbovic 2007 where the formula is printed, or the parts of which it is composed. */
  readonly source: string
  /** Whether segments change its time. */
  readonly segmented: boolean
}

/** All algorithms with a formula, by collective. */
export const modelledAlgorithms: readonly ModelledAlgorithmInfo[] = Object.freeze(
  [...new Set(rows.map(({ collective }) => collective))].flatMap((collective) =>
    rows
      .filter((row) => row.collective === collective)
      .map(({ id, source, segmented = false }) => ({ id, collective, source, segmented })),
  ),
)

/**
 * Returns the row of an id, which is without settings: formulas are for the defaults of parameters, and calls give the
 * length of segments.
 *
 * @throws ERR_ARGUMENT naming the known ids, or reporting that these settings have no formula
 */
export function modelledAlgorithmOf(id: string): ModelledAlgorithm {
  const row = byId.get(id)
  if (row !== undefined) return row
  const family = typeof id === 'string' ? id.split(':', 1)[0]! : ''
  if (byId.has(family)) {
    const expected = `expected ${family} without settings: its formula is for the defaults of its parameters`
    throw wrongValue('ERR_ARGUMENT', expected, id)
  }
  const expected = `expected an algorithm with a formula among ${[...byId.keys()].join(', ')}`
  throw wrongValue('ERR_ARGUMENT', expected, id)
}
