import { below, mulberry32 } from '../../src/base/random.js'
import { countCells } from '../../src/tuning/call-cells.js'
import { closedGrid, type DecisionGrid } from '../../src/tuning/decision-grid.js'
import type { TuningSetting } from '../../src/tuning/setting.js'

/** A trained grid of a few cells, in which some cells know no setting. */
export function randomGrid(settings: readonly TuningSetting[], seed: number): DecisionGrid {
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
  const best = Int32Array.from({ length: cells }, () => below(next, settings.length + 1))
  const isOpen = seed % 2 === 0
  const performances = isOpen
    ? Float32Array.from({ length: cells * settings.length }, () =>
        below(next, 4) === 0 ? 0 : next() / 2 ** 32,
      )
    : undefined
  return closedGrid({ settings, axes, isTrained: true, best, performances })
}
