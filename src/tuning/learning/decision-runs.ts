import { RankweaveError } from '../../errors.js'
import type { DecisionMap } from './decision-map.js'

/** Neighboring sizes of one row of a map with the same setting: a run of a run-length encoded row. */
export interface DecisionRun {
  readonly fromBytes: number
  readonly toBytes: number
  /** Index of the setting; -1 where nothing was measured. */
  readonly setting: number
}

/** The runs of every row of a map, in the order of its bytes: who wins where. */
export function runsOf({ layouts, bytes, choice }: DecisionMap): readonly (readonly DecisionRun[])[] {
  return layouts.map((_, row) => {
    const at = (column: number) => choice[row * bytes.length + column]
    const starts = [...bytes.keys()].filter((column) => column === 0 || at(column) !== at(column - 1))
    return starts.map((start, i) => ({
      fromBytes: bytes[start],
      toBytes: bytes[(starts[i + 1] ?? bytes.length) - 1],
      setting: at(start),
    }))
  })
}

/**
 * The map of these runs, on the grid of another map: the inverse of {@link runsOf}.
 *
 * @throws ERR_TUNING for runs that do not follow one another over the whole grid, and unknown settings
 */
export function mapOfRuns(grid: DecisionMap, rows: readonly (readonly DecisionRun[])[]): DecisionMap {
  const { layouts, bytes, settings } = grid
  if (rows.length !== layouts.length) fail(`expected runs of ${layouts.length} rows, got ${rows.length}`)
  const choice = new Int32Array(layouts.length * bytes.length)
  rows.forEach((runs, row) => {
    let column = 0
    for (const { fromBytes, toBytes, setting } of runs) {
      if (bytes[column] !== fromBytes)
        fail(`row ${row}: expected a run from ${bytes[column] ?? 'no further size'}, got ${fromBytes}`)
      const end = bytes.indexOf(toBytes, column) + 1
      if (end === 0) fail(`row ${row}: expected a run to a size of the grid, got ${toBytes}`)
      if (!Number.isInteger(setting) || setting < -1 || setting >= settings.length)
        fail(`row ${row}: expected a setting from -1 to ${settings.length - 1}, got ${setting}`)
      choice.fill(setting, row * bytes.length + column, row * bytes.length + end)
      column = end
    }
    if (column < bytes.length)
      fail(`row ${row}: expected runs to ${bytes.at(-1)}, got none from ${bytes[column]}`)
  })
  return { ...grid, choice }
}

/** How many cells each setting wins, by its index. */
export function wonCells({ settings, choice }: DecisionMap): readonly number[] {
  const won = settings.map(() => 0)
  for (const setting of choice) if (setting >= 0) won[setting]++
  return won
}

function fail(message: string): never {
  throw new RankweaveError('ERR_TUNING', message)
}
