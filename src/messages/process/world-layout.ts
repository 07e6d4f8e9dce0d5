import { rangeAt } from '../../base/search.js'
import { RankweaveError, wrongValue } from '../../errors.js'

/**
 * The processes that host the world ranks, and the node of each process. World ranks are distributed over processes in
 * consecutive blocks, `firstRank[p]` to `firstRank[p + 1] - 1`; blocks may be uneven and empty.
 */
export interface WorldLayout {
  readonly ranks: number
  readonly processes: number
  /** The first rank of each process. Length `processes + 1`. */
  readonly firstRank: Int32Array
  /**
   * The node number of every process: index of the first process with its label, so equal labels have equal numbers.
   */
  readonly nodeOfProcess: Int32Array
}

/**
 * Distributes `ranks` over processes, evenly (the first `ranks mod processes` get one more) unless `ranksPerProcess` is
 * given.
 *
 * @throws ERR_WORLD for counts that are not positive integers or do not add up
 */
export function worldLayout(
  ranks: number,
  nodes: readonly string[],
  ranksPerProcess?: readonly number[],
): WorldLayout {
  const processes = nodes.length
  if (!Number.isSafeInteger(ranks) || ranks < 1 || ranks > maxWorldRanks)
    throw wrongValue('ERR_WORLD', `expected 1 to ${maxWorldRanks} ranks`, ranks)
  if (processes < 1) throw new RankweaveError('ERR_WORLD', 'expected at least one process, got none')
  const firstRank = new Int32Array(processes + 1)
  if (ranksPerProcess === undefined) {
    const base = Math.floor(ranks / processes)
    const extra = ranks % processes
    for (let p = 0; p < processes; p++) firstRank[p + 1] = firstRank[p] + base + (p < extra ? 1 : 0)
  } else {
    if (ranksPerProcess.length !== processes) {
      const expected = `expected ranksPerProcess for ${processes} processes`
      throw wrongValue('ERR_WORLD', expected, ranksPerProcess.length)
    }
    for (let p = 0; p < processes; p++) {
      const count = ranksPerProcess[p]
      if (!Number.isSafeInteger(count) || count < 0)
        throw wrongValue('ERR_WORLD', `expected ranksPerProcess[${p}] as an integer from 0`, count)
      firstRank[p + 1] = firstRank[p] + count
    }
    if (firstRank[processes] !== ranks) {
      const expected = `expected ranksPerProcess to add up to ${ranks} ranks`
      throw wrongValue('ERR_WORLD', expected, firstRank[processes])
    }
  }
  const numberOf = new Map<string, number>()
  const nodeOfProcess = Int32Array.from(nodes, (label, p) => {
    const known = numberOf.get(label)
    if (known !== undefined) return known
    numberOf.set(label, p)
    return p
  })
  return { ranks, processes, firstRank, nodeOfProcess }
}

/**
 * The most ranks of a world, because a context key packs the leader's world rank above a 31-bit counter into a double.
 */
export const maxWorldRanks = 2 ** 22

/** Returns the process that hosts a world rank. O(lg processes). */
export function processOf(layout: WorldLayout, worldRank: number): number {
  return rangeAt(layout.firstRank, worldRank)
}

export function ranksText({ firstRank }: WorldLayout, process: number): string {
  const first = firstRank[process]
  const last = firstRank[process + 1] - 1
  if (last < first) return `process ${process} without ranks`
  return `process ${process} with ${first === last ? `world rank ${first}` : `world ranks ${first}-${last}`}`
}
