import { allgatherBytes } from '../exchange-patterns.js'
import { type LocalRankTable, type ProcessTable, rankTable, stridedTable } from '../rank-table.js'
import type { SplitAlgorithm, SplitPart, SplitRequest } from './algorithm.js'
import { scratch } from './scratch.js'
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
  const localIndex = scratch('localIndex', parent.size).fill(-1)
  for (let i = 0; i < parent.localRanks.length; i++) localIndex[parent.localRanks[i]!] = i

  const parts: SplitPart[] = []
  for (let group = 0; group + 1 < start.length; group++) {
    const from = start[group]!
    const to = start[group + 1]!
    let here = 0
    for (let i = from; i < to; i++) if (localIndex[members[i]!]! >= 0) here++
    if (here === 0) continue
    const hosted = new Int32Array(here)
    for (let i = from, at = 0; i < to; i++) {
      const index = localIndex[members[i]!]!
      if (index >= 0) hosted[at++] = index
    }
    const leader = members[from]!
    parts.push({
      id: { leader: parentTable.lookup(leader), counter: table.counter[table.process[leader]!]! },
      table: selectedTable(parentTable, members, from, to),
      hosted,
    })
  }
  return parts
}

/** The table of the parent's ranks `ranks[from .. to - 1]`. */
function selectedTable(parent: LocalRankTable, ranks: Int32Array, from: number, to: number): LocalRankTable {
  const first = parent.lookup(ranks[from]!)
  const stride = to - from > 1 ? parent.lookup(ranks[from + 1]!) - first : 1
  let regular = from + 1
  while (regular < to && parent.lookup(ranks[regular]!) === first + (regular - from) * stride) regular++
  if (regular === to) return stridedTable(to - from, first, stride)
  const worldRanks = new Int32Array(to - from)
  for (let i = from; i < to; i++) worldRanks[i - from] = parent.lookup(ranks[i]!)
  return rankTable(worldRanks)
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
  const color = scratch('color', size)
  const key = scratch('key', size)
  const process = scratch('process', size)
  const next = scratch('next', frames.length).fill(1)
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
  const counter = scratch('counter', frames.length)
  frames.forEach((words, from) => {
    counter[from] = words[0]!
  })
  return { entries: { color, key }, process, counter }
}
