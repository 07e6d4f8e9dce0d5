import { below, mulberry32 } from '../../src/base/random.js'
import { closedGrid, countCells, type DecisionGrid } from '../../src/tuning/models/decision-grid.js'
import type { TuningSetting } from '../../src/tuning/settings/setting.js'

/**
 * A trained grid of a few cells, in which some cells know no setting.
 *
 * @param excluded numbers of settings that are never chosen
 */
export function randomGrid(
  settings: readonly TuningSetting[],
  seed: number,
  excluded: readonly number[] = [],
): DecisionGrid {
  const next = mulberry32(seed)
  const edges = (first: number, count: number, step: number) => {
    const all = [first]
    for (let i = 1; i < count; i++) all.push(all[i - 1] + 1 + below(next, step))
    return all
  }
  const axes = {
    bytes: edges(0, 1 + below(next, 18), 5000),
    nodes: edges(1, 1 + below(next, 8), 2),
    processesPerNode: edges(1, 1 + below(next, 5), 2),
  }
  const cells = countCells(axes)
  const best = Int32Array.from({ length: cells }, () => {
    const number = below(next, settings.length + 1)
    return excluded.includes(number) ? 0 : number
  })
  const isOpen = seed % 2 === 0
  const performances = isOpen
    ? Float32Array.from({ length: cells * settings.length }, () =>
        below(next, 4) === 0 ? 0 : next() / 2 ** 32,
      )
    : undefined
  const never = excluded.length === 0 ? {} : { excluded }
  return closedGrid({ settings, axes, isTrained: true, best, performances, ...never })
}
