import { requireKnownOptions } from '../../base/known-options.js'
import { wrongValue } from '../../errors.js'
import type { CellAxes } from '../settings/call-cells.js'
import { checkSetting } from '../settings/check-setting.js'
import { callLimits } from '../settings/tuning-call.js'
import { type DecisionGrid, openGrid } from './decision-grid.js'

export const gridLimits = { settings: 4095, edges: 64, cells: 2 ** 16 } as const

const axisLimits: Readonly<Record<keyof CellAxes, readonly [number, number]>> = {
  bytes: [0, callLimits.bytes],
  nodes: [1, callLimits.processes],
  processesPerNode: [1, callLimits.processes],
}

const known = {
  grid: {
    ...{ kind: true, settings: true, axes: true, isTrained: true, best: true, performances: true },
    excluded: true,
  },
  setting: { collective: true, algorithm: true, parameters: true },
} as const

type Members = Readonly<Record<string, unknown>>

/**
 * Checks a grid that came from a file.
 *
 * @param where the file, for messages
 * @throws ERR_TUNING naming the member that is missing, unknown or out of range; for more than 4,095 settings, 64 edges
 *   of an axis or 65,536 cells
 */
export function checkDecisionGrid(where: string, value: unknown): DecisionGrid {
  requireKnownOptions(where, value, known.grid, 'ERR_TUNING')
  const { settings, axes, isTrained, best, performances, excluded } = value as Members
  if (!Array.isArray(settings) || settings.length === 0 || settings.length > gridLimits.settings)
    throw fail(`${where}.settings`, `a list of 1 to ${gridLimits.settings}`, settings)
  for (const [i, setting] of settings.entries()) {
    requireKnownOptions(`${where}.settings[${i}]`, setting, known.setting, 'ERR_TUNING')
    checkSetting(setting, `${where}.settings[${i}]`, 'ERR_TUNING')
  }
  checkAxes(`${where}.axes`, axes)
  if (typeof isTrained !== 'boolean') throw fail(`${where}.isTrained`, 'true or false', isTrained)
  if (typeof best !== 'string') throw fail(`${where}.best`, 'base64', best)
  if (performances !== undefined && typeof performances !== 'string')
    throw fail(`${where}.performances`, 'base64', performances)
  if (excluded !== undefined) checkExcluded(`${where}.excluded`, excluded, settings.length)
  const grid = value as DecisionGrid
  openGrid(where, grid)
  return grid
}

function checkExcluded(where: string, excluded: unknown, settings: number): void {
  const isNumber = (number: unknown) =>
    Number.isInteger(number) && (number as number) >= 1 && (number as number) <= settings
  if (!Array.isArray(excluded) || !excluded.every(isNumber) || new Set(excluded).size !== excluded.length)
    throw fail(where, `numbers from 1 to ${settings}, each once`, excluded)
}

function checkAxes(where: string, axes: unknown): void {
  requireKnownOptions(where, axes, axisLimits, 'ERR_TUNING')
  let cells = 1
  for (const [name, [least, most]] of Object.entries(axisLimits)) {
    const edges = (axes as Members)[name]
    const isAscending =
      Array.isArray(edges) &&
      edges.length > 0 &&
      edges.length <= gridLimits.edges &&
      edges[0] === least &&
      edges.every((edge, i) => Number.isSafeInteger(edge) && edge <= most && (i === 0 || edge > edges[i - 1]))
    if (!isAscending)
      throw fail(
        `${where}.${name}`,
        `1 to ${gridLimits.edges} ascending integers from ${least} to ${most}`,
        edges,
      )
    cells *= edges.length
  }
  if (cells > gridLimits.cells) throw fail(where, `at most ${gridLimits.cells} cells`, cells)
}

function fail(where: string, expected: string, value: unknown) {
  return wrongValue('ERR_TUNING', `${where}: expected ${expected}`, value)
}
