import { getOrAdd } from '../../base/maps.js'
import { integerListsOption, integersOption, type OptionTable } from '../../base/option.js'
import { strategyError } from '../../topology/friends/grouping-options.js'
import { findTranslations, shorterWay } from '../../topology/generate/translations.js'
import type { ProcessTopology } from '../../topology/process-topology.js'
import {
  cappedWeights,
  coveringRadices,
  messagesByDigit,
  requireCover,
  similarRadices,
  swaps,
} from './digits.js'
import type { Extents, Route, StrategyKind } from './strategy-kind.js'

/**
 * Corrects offsets dimension by dimension, on a grid on which every rank has the same offsets to its destinations.
 * Inside a dimension it takes the digits of the offset.
 */
export interface Cartesian {
  readonly kind: 'cartesian'
  /**
   * Per dimension the radices of its offsets, lowest first; 1 for a dimension without offsets. Default: those of the
   * fewest messages.
   */
  readonly windows?: readonly (readonly number[])[]
  /**
   * The order in which dimensions are corrected. Default: by their numbers, so that the most distant ranks come first.
   */
  readonly order?: readonly number[]
}

const options = {
  windows: integerListsOption({
    least: 1,
    help: 'radices of the offsets of every dimension, lowest first; 1 for a dimension without offsets',
    computed: 'those of fewest messages',
  }),
  order: integersOption({
    least: 0,
    help: 'dimensions in the order in which they are corrected',
    computed: 'in their order',
  }),
} satisfies OptionTable<Omit<Cartesian, 'kind'>>

/** @see Traeff, Hunold, Mercier, Holmes 2019 (Cartesian collective communication) */
export const cartesian: StrategyKind<Cartesian> = {
  help: 'cartesian:windows=3.3/3.3,order=0.1   on a grid, dimension by dimension, digits of the offset',
  options,
  planningLimit: Number.POSITIVE_INFINITY,
  route({ kind, windows, order }, { topology }) {
    const grid = windowsOf(topology)
    if (grid === null)
      throw strategyError(
        'cartesian: expected a topology with the same offsets from every rank of a grid, found none',
      )
    const { dims, low, high } = grid
    if (windows !== undefined && windows.length !== dims.length)
      throw strategyError(`cartesian: expected windows for ${dims.length} dimensions, got ${windows.length}`)
    const inOrder = order ?? dims.map((_, d) => d)
    if (inOrder.length !== dims.length || dims.some((_, d) => !inOrder.includes(d)))
      throw strategyError(
        `cartesian: expected an order of ${dims.length} dimensions, got ${inOrder.join('.')}`,
      )
    const digits = dims.map((_, d) => {
      const offsets = high[d] - low[d] + 1
      const radices = windows?.[d] ?? windowRadices(offsets)
      requireCover(kind, 'windows', radices, offsets, `the offsets of dimension ${d}`)
      return new WindowDigits(low[d], radices)
    })
    return routeByOffsets(grid, digits, inOrder)
  },
  place: 2,
  isNumbered: true,
  candidates: candidatesOf,
  mostMessages: ({ windows, order }) => order!.flatMap((d) => messagesByDigit(windows![d])),
  similar(strategy, extents) {
    const { windows = [], order = windows.map((_, d) => d) } = strategy
    return [
      ...windows.flatMap((window, d) =>
        similarRadices(window, extents.windows[d]).map((other) => ({
          ...strategy,
          windows: windows.with(d, other),
        })),
      ),
      ...swaps(order).map((swapped) => ({ ...strategy, order: swapped })),
    ]
  },
}

/** Lists per dimension the windows that cover its offsets, in both orders of dimensions. */
function candidatesOf({ windows: extents }: Extents): Cartesian[] {
  if (extents.length === 0 || extents.length > 4) return []
  const widest = extents.reduce((most, extent) => Math.max(most, extent), 1)
  if (widest > largestWindow) return []
  let choices: number[][][] = [[]]
  for (const extent of extents) {
    const windows = extent <= 1 ? [[]] : windowsFor(extent, extents.length)
    choices = choices.flatMap((chosen) => windows.map((window) => [...chosen, window]))
  }
  const dims = extents.map((_, d) => d)
  return promising(choices).flatMap((windows) =>
    (dims.length === 1 ? [dims] : [dims, dims.toReversed()]).map(
      (order): Cartesian => ({ kind: 'cartesian', windows, order }),
    ),
  )
}

/** The most windows of all dimensions that are considered: see {@link promising}. */
export const mostWindows = 192

/**
 * Selects windows with the fewest messages and steps, where a step counts as none, one or four messages. It takes a
 * third of {@link mostWindows} for each weight, in the order given.
 */
function promising(choices: readonly number[][][]): readonly number[][][] {
  if (choices.length <= mostWindows) return choices
  const costs = choices.map((windows) => {
    const radices = windows.flat()
    return { messages: radices.reduce((sum, radix) => sum + radix - 1, 0), steps: radices.length }
  })
  const retained = new Set<number>()
  for (const worth of [0, 1, 4]) {
    const cost = (i: number) => costs[i].messages + worth * costs[i].steps
    const byCost = choices.map((_, i) => i).sort((a, b) => cost(a) - cost(b) || a - b)
    for (const i of byCost.slice(0, mostWindows / 3)) retained.add(i)
  }
  return choices.filter((_, i) => retained.has(i))
}

/** Grids with wider windows are not worth a search. */
const largestWindow = 32

/** Lists windows for a dimension, fewer if there are many dimensions. */
function windowsFor(extent: number, dims: number): number[][] {
  const windows = coveringRadices(extent).filter((window) => window.length <= 4)
  if (dims <= 2 && extent <= 9) return windows
  return windows.filter((window) => window.length <= 2 || window.every((radix) => radix <= 3)).slice(0, 6)
}

interface Grid {
  readonly dims: readonly number[]
  readonly periods: readonly boolean[]
}

/** The offsets of a dimension: from `low`, at most 0, to `high`, at least 0. */
interface Windows extends Grid {
  readonly low: readonly number[]
  readonly high: readonly number[]
}

/** The windows of topologies in use, because a search for translations visits every edge several times. */
const found = new WeakMap<ProcessTopology, Windows | null>()

/** Returns the offsets of every dimension; null if ranks have different offsets. */
export function windowsOf(topology: ProcessTopology): Windows | null {
  return getOrAdd(found, topology, () => findWindows(topology))
}

function findWindows(topology: ProcessTopology): Windows | null {
  const { cart, ranks } = topology
  if (ranks === 0) return { dims: [], periods: [], low: [], high: [] }
  if (cart !== null) {
    const { dims, periods } = cart
    // A dimension of one or two ranks is the same in both directions.
    return {
      dims,
      periods,
      low: dims.map((n) => (n > 2 ? -1 : 1 - n)),
      high: dims.map((n) => (n > 1 ? 1 : 0)),
    }
  }
  const finding = findTranslations(topology)
  if (finding.kind !== 'invariant') return null
  const { dims, periods, offsets } = finding
  const along = dims.map((_, d) => offsets.map((offset) => offset[d]))
  return {
    dims,
    periods,
    low: along.map((steps) => steps.reduce((a, b) => Math.min(a, b), 0)),
    high: along.map((steps) => steps.reduce((a, b) => Math.max(a, b), 0)),
  }
}

function routeByOffsets(
  { dims, periods }: Grid,
  digits: readonly WindowDigits[],
  order: readonly number[],
): Route {
  const strides = dims.map((_, d) => dims.slice(d + 1).reduce((product, extent) => product * extent, 1))
  const coordinate = (rank: number, d: number): number => Math.floor(rank / strides[d]) % dims[d]
  /** The place of every dimension in the order. */
  const placeOf = dims.map((_, d) => order.indexOf(d))
  /** The dimension and step of every hop. */
  const hops = order.flatMap((d) => Array.from({ length: digits[d].steps }, (_, step) => ({ d, step })))
  return {
    hops: hops.length,
    hop(h, source, destination) {
      const { d, step } = hops[h]
      let rank = 0
      for (let other = 0; other < dims.length; other++) {
        const isDone = placeOf[other] < placeOf[d]
        if (other !== d) rank += strides[other] * coordinate(isDone ? destination : source, other)
      }
      const from = coordinate(source, d)
      const to = coordinate(destination, d)
      const offset = periods[d] ? shorterWay(to - from, dims[d]) : to - from
      const at = from + digits[d].after(step, offset)
      return rank + strides[d] * (periods[d] ? wrapped(at, dims[d]) : Math.min(Math.max(at, 0), dims[d] - 1))
    },
  }
}

function wrapped(coordinate: number, extent: number): number {
  return ((coordinate % extent) + extent) % extent
}

/** This exceeds the offsets of any dimension. */
const largestWeight = 2 ** 29

/** Corrects the offsets of one dimension digit by digit of a mixed-radix notation. Offset 0 stays 0 in every step. */
class WindowDigits {
  readonly steps: number
  readonly #low: number
  readonly #weights: Int32Array

  /**
   * @param low the lowest offset, at most 0
   * @param radices lowest first, with a product of at least the number of offsets
   */
  constructor(low: number, radices: readonly number[]) {
    this.steps = radices.length
    this.#low = -low
    this.#weights = cappedWeights(radices, largestWeight)
  }

  /** Returns the distance along an offset that a block has travelled after a step. */
  after(step: number, offset: number): number {
    if (step >= this.steps - 1) return offset
    const weight = this.#weights[step + 1]
    return ((offset + this.#low) % weight) - (this.#low % weight)
  }
}

/**
 * Returns the radices of fewest messages, then of fewest steps, for a window of some offsets; 9 gives 3.3, 5 gives 2.3.
 */
function windowRadices(offsets: number): number[] {
  if (offsets <= 1) return []
  let best = [offsets]
  for (let radix = 2; radix < Math.min(offsets, 5); radix++) {
    const tried = [radix, ...windowRadices(Math.ceil(offsets / radix))]
    const saved = messages(best) - messages(tried)
    if (saved > 0 || (saved === 0 && tried.length < best.length)) best = tried
  }
  return best
}

const messages = (radices: readonly number[]): number => radices.reduce((sum, radix) => sum + radix - 1, 0)
