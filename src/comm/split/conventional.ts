import { allgatherBytes } from '../exchange-patterns.js'
import { type ProcessTable, rankTable } from '../rank-table.js'
import type { SplitAlgorithm, SplitPart, SplitRequest } from './algorithm.js'
import { type SplitTable, splitConventional } from './sort-table.js'
import { bytesOf, wordsOf } from './words.js'

/**
 * Every process learns color and key of all ranks and sorts them for itself: O(n) words per process, whatever the
 * number of ranks it hosts (split.md §1, B1). The counter that names the new contexts travels along, so ids cost no
 * message of their own (§9, variant b).
 */
export const splitConventionally: SplitAlgorithm = async ({ parent, exchange, request, meter }) => {
  const parentTable = await parent.place()
  meter.enter('collect')
  const mine = bytesOf(pack(parent.runtime.drawCounter(), request))
  const frames = await allgatherBytes(exchange, mine)
  meter.hold(mine)
  for (const frame of frames) meter.hold(frame)
  meter.enter('merge')
  const table = unpack(parent.processes, parent.size, frames.map(wordsOf))
  const { start, members } = splitConventional(table.entries)
  const localIndex = new Int32Array(parent.size).fill(-1)
  for (let i = 0; i < parent.localRanks.length; i++) localIndex[parent.localRanks[i]!] = i

  const parts: SplitPart[] = []
  for (let group = 0; group + 1 < start.length; group++) {
    const ranks = members.subarray(start[group]!, start[group + 1]!)
    const hosted = ranks.map((rank) => localIndex[rank]!).filter((index) => index >= 0)
    if (hosted.length === 0) continue
    const worldRanks = ranks.map((rank) => parentTable.lookup(rank))
    const counter = table.counter[table.process[ranks[0]!]!]!
    parts.push({ id: { leader: worldRanks[0]!, counter }, table: rankTable(worldRanks), hosted })
  }
  return parts
}

/** A counter, then color and key of every hosted rank, ascending by rank. */
function pack(counter: number, { color, key }: SplitRequest): Int32Array {
  const words = new Int32Array(1 + 2 * color.length)
  words[0] = counter
  for (let i = 0; i < color.length; i++) {
    words[1 + 2 * i] = color[i]!
    words[2 + 2 * i] = key[i]!
  }
  return words
}

interface SplitRows {
  readonly entries: SplitTable
  /** Process index of every rank. */
  readonly process: Int32Array
  /** Counter that every process drew. */
  readonly counter: Int32Array
}

function unpack(processes: ProcessTable, size: number, frames: readonly Int32Array[]): SplitRows {
  const color = new Int32Array(size)
  const key = new Int32Array(size)
  const process = new Int32Array(size)
  const next = new Int32Array(frames.length).fill(1)
  for (let run = 0; run < processes.runProcess.length; run++) {
    const from = processes.runProcess[run]!
    const words = frames[from]!
    let at = next[from]!
    for (let rank = processes.runStart[run]!; rank < processes.runStart[run + 1]!; rank++) {
      color[rank] = words[at++]!
      key[rank] = words[at++]!
      process[rank] = from
    }
    next[from] = at
  }
  return { entries: { color, key }, process, counter: Int32Array.from(frames, (words) => words[0]!) }
}
