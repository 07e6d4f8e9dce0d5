import { RankweaveError, wrongValue } from '../../errors.js'
import { type CellAxes, cellOf, countCells } from '../settings/call-cells.js'
import type { TuningSetting } from '../settings/setting.js'

/**
 * Decisions as a grid of cells, which online tuning learns between runs. Plain data, which a tuning file holds in place
 * of a tree. 2,754 cells take 11,016 bytes; performances take 4 bytes more for each cell and setting. In a file both
 * are base64.
 *
 * @see Steiner 2023 §4.5.2
 */
export interface DecisionGrid {
  readonly kind: 'grid'
  /** The settings; number i (AlgID) is at place i - 1. */
  readonly settings: readonly TuningSetting[]
  readonly axes: CellAxes
  /**
   * Whether enough settings have enough times. If not, there is no basis for a choice: runs that explore take every
   * setting with equal probability, others leave calls to the default.
   */
  readonly isTrained: boolean
  /** The number of the best setting, by cell, 0 if none is known; little-endian int32 in base64. */
  readonly best: string
  /**
   * The performances, by cell and setting: the least predicted time of the cell over that of the setting, so 0 to 1. A
   * setting with too few times has 0. Little-endian float32 in base64. Absent: the grid is for runs that do not
   * explore.
   */
  readonly performances?: string
  /** The numbers of settings that are never chosen, also not to explore. Absent: none. */
  readonly excluded?: readonly number[]
}

/** A grid whose cells can be read. */
export interface OpenGrid {
  readonly settings: readonly TuningSetting[]
  readonly axes: CellAxes
  readonly isTrained: boolean
  /** The numbers of the best settings, 4 bytes a cell. */
  readonly best: Int32Array
  /** The performances, 4 bytes for each cell and setting, settings of a cell together. */
  readonly performances: Float32Array | undefined
  /** The excluded numbers, as in {@link DecisionGrid}. */
  readonly excluded?: readonly number[]
}

/** Returns the number of a trained grid's setting for a call, or 0 for none. One look-up, allocates nothing. */
export function bestNumber(
  { axes, best }: OpenGrid,
  bytes: number,
  nodes: number,
  processesPerNode: number,
): number {
  return best[cellOf(axes, bytes, nodes, processesPerNode)]
}

/** Returns a grid in the form of a file. */
export function closedGrid({
  settings,
  axes,
  isTrained,
  best,
  performances,
  ...more
}: OpenGrid): DecisionGrid {
  const known = performances === undefined ? {} : { performances: base64Of(performances) }
  return { kind: 'grid', settings, axes, isTrained, best: base64Of(best), ...known, ...more }
}

/**
 * Returns a grid of a file in the form to read: the inverse of {@link closedGrid}.
 *
 * @param where the grid, for messages
 * @throws ERR_TUNING for arrays of another length than the axes and settings give, for values out of range, and for a
 *   cell whose best setting is excluded
 */
export function openGrid(where: string, grid: DecisionGrid): OpenGrid {
  const { settings, axes, isTrained, excluded } = grid
  const never = excluded === undefined ? {} : { excluded }
  const cells = countCells(axes)
  const best = new Int32Array(bytesOfBase64(`${where}.best`, grid.best, 4 * cells))
  const wrong = best.findIndex((number) => number < 0 || number > settings.length)
  if (wrong >= 0)
    throw wrongValue(
      'ERR_TUNING',
      `${where}.best: expected numbers from 0 to ${settings.length}`,
      best[wrong],
    )
  const bestExcluded = best.find((number) => excluded?.includes(number) === true)
  if (bestExcluded !== undefined)
    throw wrongValue('ERR_TUNING', `${where}.best: expected settings that are not excluded`, bestExcluded)
  if (grid.performances === undefined)
    return { settings, axes, isTrained, best, performances: undefined, ...never }
  const bytes = bytesOfBase64(`${where}.performances`, grid.performances, 4 * cells * settings.length)
  const performances = new Float32Array(bytes)
  const odd = performances.find((value) => !(value >= 0 && value <= 1))
  if (odd !== undefined)
    throw wrongValue('ERR_TUNING', `${where}.performances: expected numbers from 0 to 1`, odd)
  return { settings, axes, isTrained, best, performances, ...never }
}

function base64Of(values: Int32Array | Float32Array): string {
  const view = new DataView(new ArrayBuffer(values.byteLength))
  for (let i = 0; i < values.length; i++)
    if (values instanceof Int32Array) view.setInt32(4 * i, values[i], true)
    else view.setFloat32(4 * i, values[i], true)
  let text = ''
  const bytes = new Uint8Array(view.buffer)
  const piece = 0x8000
  for (let at = 0; at < bytes.length; at += piece)
    text += String.fromCharCode(...bytes.subarray(at, at + piece))
  return btoa(text)
}

/** Decodes base64 into bytes in the order of this machine. */
function bytesOfBase64(where: string, text: string, length: number): ArrayBuffer {
  let binary: string
  try {
    binary = atob(text)
  } catch (cause) {
    throw new RankweaveError('ERR_TUNING', `${where}: expected base64`, { cause })
  }
  if (binary.length !== length)
    throw wrongValue('ERR_TUNING', `${where}: expected ${length} bytes`, binary.length)
  const view = new DataView(new ArrayBuffer(length))
  for (let i = 0; i < length; i++) view.setUint8(i, binary.charCodeAt(i))
  const words = new Int32Array(length / 4)
  for (let i = 0; i < words.length; i++) words[i] = view.getInt32(4 * i, true)
  return words.buffer
}

/** Returns the grid of a collective before anything was learned. */
export function emptyGrid(settings: readonly TuningSetting[], axes: CellAxes): OpenGrid {
  return { settings, axes, isTrained: false, best: new Int32Array(countCells(axes)), performances: undefined }
}
