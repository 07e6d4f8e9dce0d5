import { RankweaveError, shown } from '../../errors.js'
import type { CostModel, ModelName } from './terms.js'

/** The largest inputs, such that their products stay exact enough as doubles. */
export const modelLimits = { ranks: 2 ** 22, bytes: 2 ** 40, sizes: 4096 } as const

const memory = ['reduceNsPerByte', 'copyNsPerByte'] as const
const figures: Readonly<Record<ModelName, readonly string[]>> = {
  hockney: ['latencyNs', 'nsPerByte'],
  logp: ['latencyNs', 'overheadNs', 'gapNs'],
  loggp: ['latencyNs', 'overheadNs', 'gapNs', 'nsPerByte'],
  plogp: ['latencyNs'],
}
const tables = ['gapNs', 'sendOverheadNs', 'receiveOverheadNs'] as const

/** Checks that a model has every figure, each finite and not negative. @throws ERR_MODEL otherwise */
export function checkModel(model: CostModel): void {
  const names = figures[Object(model).model as ModelName]
  if (names === undefined)
    fail(`expected a model of kind ${Object.keys(figures).join(', ')}, got ${shown(Object(model).model)}`)
  const values = model as unknown as Readonly<Record<string, unknown>>
  for (const name of names) {
    // PLogP measures the latency with the gap, so the remainder may be below zero.
    const isLatencyOfPLogP = model.model === 'plogp' && name === 'latencyNs'
    if (!isFigure(values[name], isLatencyOfPLogP ? Number.NEGATIVE_INFINITY : 0))
      fail(`${model.model}: expected ${name} as a number of at least 0, got ${shown(values[name])}`)
  }
  for (const name of memory) {
    if (values[name] !== undefined && !isFigure(values[name], 0))
      fail(`${model.model}: expected ${name} as a number of at least 0, got ${shown(values[name])}`)
  }
  if (model.model === 'plogp') checkTables(values)
}

function checkTables(values: Readonly<Record<string, unknown>>): void {
  const sizes = values['sizesBytes']
  if (!Array.isArray(sizes) || sizes.length === 0 || sizes.length > modelLimits.sizes)
    fail(
      `plogp: expected 1 to ${modelLimits.sizes} sizesBytes, got ${Array.isArray(sizes) ? sizes.length : shown(sizes)}`,
    )
  sizes.forEach((size, i) => {
    if (!isFigure(size, 0) || (i > 0 && size <= sizes[i - 1]))
      fail(`plogp: expected sizesBytes that ascend from 0 or more, got ${shown(size)} at ${i}`)
  })
  for (const name of tables) {
    const table = values[name]
    if (!Array.isArray(table) || table.length !== sizes.length)
      fail(`plogp: expected ${name} with one entry for each of ${sizes.length} sizesBytes`)
    table.forEach((value, i) => {
      if (!isFigure(value, 0))
        fail(`plogp: expected numbers of at least 0 in ${name}, got ${shown(value)} at ${i}`)
    })
  }
}

export interface ModeledCall {
  /** The number of ranks, 1 to 2^22. */
  readonly ranks: number
  /**
   * The length of the whole vector of bcast, reduce, allreduce, scan and exscan, or of one rank's block for the others.
   * A barrier has none. Up to 2^40. Default 0.
   */
  readonly bytes?: number
}

/** @throws ERR_MODEL for numbers out of range */
export function checkCall(call: ModeledCall): void {
  const { ranks, bytes = 0 } = Object(call) as ModeledCall
  requireInteger('ranks', ranks, 1, modelLimits.ranks)
  requireInteger('bytes', bytes, 0, modelLimits.bytes)
}

/** @throws ERR_MODEL */
export function requireInteger(name: string, value: number, least: number, most: number): void {
  if (Number.isInteger(value) && value >= least && value <= most) return
  fail(`expected ${name} as an integer from ${least} to ${most}, got ${shown(value)}`)
}

/** @throws ERR_MODEL */
export function requireBytes(name: string, value: number): void {
  if (isFigure(value, 0) && value <= modelLimits.bytes) return
  fail(`expected ${name} as a number from 0 to ${modelLimits.bytes}, got ${shown(value)}`)
}

/** Checks the share of its nodes' bandwidth that a leaf switch can send to other switches. @throws ERR_MODEL */
export function requireTaper(taper: number): void {
  if (isFigure(taper, 0) && taper > 0 && taper <= 1) return
  fail(`expected taper as a number above 0, at most 1, got ${shown(taper)}`)
}

/** @throws ERR_MODEL */
export function requireFigures(name: string, values: readonly number[]): void {
  if (!Array.isArray(values)) fail(`expected a list of ${name}, got ${shown(values)}`)
}

function isFigure(value: unknown, least: number): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= least
}

export function fail(message: string): never {
  throw new RankweaveError('ERR_MODEL', message)
}
