import { withDefaults } from '../../base/option-table.js'
import type { ProcessTopology } from '../../topology/process-topology.js'
import { windowsOf } from '../strategies/cartesian.js'
import type { Lanes } from '../strategies/lanes.js'
import type { Pipelined } from '../strategies/pipelined.js'
import { strategyKind } from '../strategies/strategies.js'
import type { Strategy } from '../strategies/strategy.js'
import { formatStrategy } from '../strategies/strategy-text.js'
import { type NodeSizes, nodeSizes } from './candidates.js'
import { isTight } from './radices.js'
import type { Simulated } from './simulated.js'

/** The limits of a search, on any computer. */
export interface SearchLimits {
  /** The number of strategies to simulate. */
  readonly strategies: number
  /** The blocks that they may move together. */
  readonly moves: number
}

export interface Found {
  /** The fastest strategy; null if none is faster than those with which the search began. */
  readonly best: Simulated | null
  readonly tried: number
}

/** A strategy whose similar ones have not all been tried. */
interface Open {
  readonly timeUs: number
  /** The strategies similar to it, the next to try at the end. */
  readonly left: Strategy[]
}

/**
 * Searches for faster strategies among those similar to the fastest, including those that it finds. It always tries the
 * next strategy similar to the fastest one that has any left. Each step of the generator is a strategy.
 *
 * @param known the strategies simulated before; the search begins with all of them
 */
export function* localSearch(
  known: readonly Pick<Simulated, 'strategy' | 'timeUs'>[],
  extents: Extents,
  limits: SearchLimits,
  simulate: (strategy: Strategy) => Simulated,
): Generator<void, Found> {
  const open = (strategy: Strategy, timeUs: number): Open => ({
    timeUs,
    left: similarTo(strategy, extents).reverse(),
  })
  const seen = new Set(known.map(({ strategy }) => identityOf(strategy)))
  const frontier = known.map(({ strategy, timeUs }) => open(strategy, timeUs))
  frontier.sort((a, b) => b.timeUs - a.timeUs)
  let best: Simulated | null = null
  let leastUs = frontier.at(-1)?.timeUs ?? 0
  let [tried, moves] = [0, 0]
  while (frontier.length > 0 && tried < limits.strategies && moves < limits.moves) {
    const strategy = frontier[frontier.length - 1].left.pop()
    if (strategy === undefined) {
      frontier.pop()
      continue
    }
    const identity = identityOf(strategy)
    if (seen.has(identity)) continue
    seen.add(identity)
    const found = simulate(strategy)
    tried++
    moves += found.moved
    const at = frontier.findLastIndex(({ timeUs }) => timeUs > found.timeUs)
    frontier.splice(at + 1, 0, open(strategy, found.timeUs))
    if (found.timeUs < leastUs) {
      best = found
      leastUs = found.timeUs
    }
    yield
  }
  return { best, tried }
}

/** The numbers that radices have to cover. */
export interface Extents extends NodeSizes {
  readonly ranks: number
  /** The number of offsets in every dimension of a grid. */
  readonly windows: readonly number[]
}

export function extentsOf(topology: ProcessTopology, nodeOf: Int32Array): Extents {
  const grid = windowsOf(topology)
  return {
    ranks: topology.ranks,
    ...nodeSizes(nodeOf),
    windows: grid === null ? [] : grid.dims.map((_, d) => grid.high[d] - grid.low[d] + 1),
  }
}

/**
 * Returns strategies of the same kind that differ from one in a step: a list of radices or widths, or one of the
 * options. The first ones were faster most often. Lists that a strategy leaves to their defaults stay there; an option
 * that a step returns to its default is left out.
 */
export function similarTo(strategy: Strategy, extents: Extents): Strategy[] {
  const { ranks, nodes, largest } = extents
  switch (strategy.kind) {
    case 'routed':
    case 'allgather':
      return [
        ...lists(strategy.radices, ranks).map((radices) => ({ ...strategy, radices })),
        ...switched(strategy),
      ]
    case 'hierarchical':
    case 'pipelined':
      return [
        ...lists(strategy.between, nodes).map((between) => ({ ...strategy, between })),
        ...lists(strategy.inside, largest).map((inside) => ({ ...strategy, inside })),
        ...(strategy.kind === 'hierarchical' ? switched(strategy) : similarSteps(strategy)),
      ]
    case 'lanes':
      return similarLanes(strategy, largest)
    case 'cartesian': {
      const { windows = [], order } = strategy
      return [
        ...windows.flatMap((window, d) =>
          lists(window, extents.windows[d]).map((other) => ({
            ...strategy,
            windows: windows.with(d, other),
          })),
        ),
        ...swaps(order ?? windows.map((_, d) => d)).map((swapped) => ({ ...strategy, order: swapped })),
      ]
    }
    default:
      return []
  }
}

function similarLanes(strategy: Lanes, largest: number): Strategy[] {
  const { lanes, widths, ...others } = strategy
  const counts = lanes === undefined ? [2, 4] : [2 * lanes, lanes / 2]
  const isCount = (count: number): boolean => count >= 1 && count <= largest && Number.isInteger(count)
  const all = widths ?? (lanes === undefined ? [] : [Math.ceil(largest / lanes)])
  return [
    ...lists(strategy.radices, largest).map((radices) => ({ ...strategy, radices })),
    ...(widths === undefined ? counts.filter(isCount).map((count) => ({ ...others, lanes: count })) : []),
    ...(all.length === 0 ? [] : divisions(expanded(all, largest))).map((divided) => ({
      ...others,
      widths: divided,
    })),
    ...switched(strategy),
  ]
}

/**
 * Returns the strategy with one option of two values at its other value. The options declared last helped most often.
 * An option that is at its default again is not written.
 */
function switched<S extends Strategy>(strategy: S): S[] {
  const { options } = strategyKind(strategy)
  const given: Readonly<Record<string, unknown>> = withDefaults(options, strategy)
  return Object.entries(options)
    .filter(([, { words = [] }]) => words.length === 2)
    .map(([name, { words = [], default: initial }]) => {
      const other = words.find((word) => word !== given[name])
      return { ...strategy, [name]: other === initial ? undefined : other }
    })
    .reverse()
}

/**
 * Returns its text with the defaults of its options, which is equal for strategies that differ only in what they write
 * out.
 */
function identityOf(strategy: Strategy): string {
  return formatStrategy(withDefaults(strategyKind(strategy).options, strategy))
}

/** Returns strategies that go the same way in one step fewer, behind or ahead. */
function similarSteps({ steps = [], back = steps, ...others }: Pipelined): Strategy[] {
  const shorter = (list: readonly number[]): number[][] =>
    list.slice(1).map((step, i) => list.toSpliced(i, 2, list[i] + step))
  return [
    ...shorter(back).map((fewer) => ({ ...others, steps, back: fewer })),
    ...shorter(steps).map((fewer) => ({ ...others, steps: fewer, back })),
  ]
}

/** Lists the width of every lane of a node: the last width is repeated while ranks are left. */
function expanded(widths: readonly number[], largest: number): number[] {
  const all: number[] = []
  for (let left = largest; left > 0; ) {
    const width = Math.min(left, widths[Math.min(all.length, widths.length - 1)])
    all.push(width)
    left -= width
  }
  return all
}

/** Lists other widths with the same sum. */
function divisions(widths: readonly number[]): number[][] {
  const found = [...swaps(widths)]
  for (let i = 0; i < widths.length; i++) {
    if (widths[i] > 1) found.push(widths.toSpliced(i, 1, Math.ceil(widths[i] / 2), Math.floor(widths[i] / 2)))
    if (i > 0) found.push(widths.toSpliced(i - 1, 2, widths[i - 1] + widths[i]))
    for (let j = 0; j < widths.length; j++)
      for (const step of [1, 2])
        if (i !== j && widths[i] > step)
          found.push(widths.with(i, widths[i] - step).with(j, widths[j] + step))
  }
  return distinct(found, widths)
}

/**
 * Lists radices that cover as much: in another order, with two digits for one or one for two, or with one digit changed
 * by one and another as large as needed.
 */
function lists(radices: readonly number[] | undefined, count: number): number[][] {
  if (radices === undefined || count <= 1) return []
  const found = swaps(radices)
  for (let i = 0; i < radices.length; i++) {
    const half = Math.ceil(radices[i] / 2)
    found.push(radices.toSpliced(i, 1, half, 2), radices.toSpliced(i, 1, 2, half))
    if (i > 0) found.push(radices.toSpliced(i - 1, 2, Math.min(count, radices[i - 1] * radices[i])))
    for (const other of [radices[i] - 1, radices[i] + 1]) {
      const changed = radices.with(i, other)
      for (let j = 0; j < radices.length; j++) {
        const rest = productOf(changed) / changed[j]
        if (i !== j) found.push(changed.with(j, Math.ceil(count / rest)))
      }
    }
  }
  const fits = (digits: readonly number[]): boolean => {
    const product = productOf(digits)
    return digits.every((radix) => radix > 1) && product >= count && isTight(digits, product, count)
  }
  return distinct(found.filter(fits), radices)
}

function productOf(radices: readonly number[]): number {
  return radices.reduce((product, radix) => product * radix, 1)
}

/** Swaps two neighbors that differ. */
function swaps(list: readonly number[]): number[][] {
  return list.slice(1).flatMap((next, i) => (next === list[i] ? [] : [list.toSpliced(i, 2, next, list[i])]))
}

function distinct(all: readonly number[][], known: readonly number[]): number[][] {
  const texts = new Map(all.map((list) => [list.join('.'), list]))
  texts.delete(known.join('.'))
  return [...texts.values()]
}
