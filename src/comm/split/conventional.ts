import { bytesOf } from '../../base/bytes.js'
import { allgatherInto } from '../../calls/exchange/exchange.js'
import { processOf } from '../../messages/process/world-layout.js'
import { type LocalRankTable, rankTable, stridedTable } from '../table/rank-table.js'
import { rowWord, sortRows } from './rows.js'
import type { SplitAlgorithm, SplitCall, SplitParent, SplitPart, SplitRequest } from './split-call.js'

type Done = (parts: readonly SplitPart[]) => void

/**
 * Splits conventionally: every process learns color and key of all ranks and sorts them for itself. That takes O(n)
 * words per process, whatever the number of ranks it hosts (docs/split-algorithms.md#conventional-and-merging). The
 * counter that names the new contexts is in the same message, so ids cost no extra message
 * (docs/split-algorithms.md#names-of-communicators).
 */
export const splitConventionally: SplitAlgorithm = (call, done) =>
  call.parent.isPlaced ? collect(call, done) : call.parent.place().then(() => collect(call, done))

function collect({ parent, exchange, request, meter }: SplitCall, done: Done): undefined {
  meter.enter('collect')
  const blocks = new Blocks(parent)
  blocks.pack(parent.runtime.drawCounter(), request)
  meter.hold(blocks.words)
  allgatherInto(exchange, bytesOf(blocks.words), blocks.startBytes, () => {
    meter.enter('merge')
    done(partsOf(parent, blocks))
  })
}

/**
 * The contributions of all processes: a counter, then color and key of the process's ranks, ascending by rank. The own
 * block is first.
 */
class Blocks {
  readonly words: Int32Array
  /** The offset of each block, and the end. */
  readonly startBytes: Int32Array
  readonly #parent: SplitParent

  constructor(parent: SplitParent) {
    const { count, runStart, runProcess } = parent.processes
    const startBytes = new Int32Array(count + 1)
    this.#parent = parent
    this.startBytes = startBytes
    for (let run = 0; run < runProcess.length; run++) {
      startBytes[this.#place(runProcess[run]) + 1] += 8 * (runStart[run + 1] - runStart[run])
    }
    for (let place = 0; place < count; place++) startBytes[place + 1] += startBytes[place] + 4
    this.words = new Int32Array(startBytes[count] >> 2)
  }

  pack(counter: number, { color, key }: SplitRequest): void {
    const { words } = this
    words[0] = counter
    for (let i = 0; i < color.length; i++) {
      words[1 + 2 * i] = color[i]
      words[2 + 2 * i] = key[i]
    }
  }

  unpack(): SplitArguments {
    const { words } = this
    const { size, processes } = this.#parent
    const { count, runStart, runProcess } = processes
    const color = scratch('color', size)
    const key = scratch('key', size)
    const next = scratch('next', count)
    for (let process = 0; process < count; process++) next[process] = this.#at(process) + 1
    for (let run = 0; run < runProcess.length; run++) {
      const process = runProcess[run]
      let at = next[process]
      for (let rank = runStart[run]; rank < runStart[run + 1]; rank++) {
        color[rank] = words[at++]
        key[rank] = words[at++]
      }
      next[process] = at
    }
    return { color, key }
  }

  counter(process: number): number {
    return this.words[this.#at(process)]
  }

  #at(process: number): number {
    return this.startBytes[this.#place(process)] >> 2
  }

  #place(process: number): number {
    const { processIndex, processes } = this.#parent
    return process < processIndex ? process - processIndex + processes.count : process - processIndex
  }
}

function partsOf(parent: SplitParent, blocks: Blocks): SplitPart[] {
  const parentTable = parent.wholeTable
  const { start, members } = groupsOfTable(blocks.unpack())
  const localIndex = scratch('localIndex', parent.size).fill(-1)
  for (let i = 0; i < parent.localRanks.length; i++) localIndex[parent.localRanks[i]] = i
  const parts: SplitPart[] = []
  for (let group = 0; group + 1 < start.length; group++) {
    const from = start[group]
    const to = start[group + 1]
    let here = 0
    for (let i = from; i < to; i++) if (localIndex[members[i]] >= 0) here++
    if (here === 0) continue
    const hosted = new Int32Array(here)
    for (let i = from, at = 0; i < to; i++) {
      const index = localIndex[members[i]]
      if (index >= 0) hosted[at++] = index
    }
    const leader = parentTable.lookup(members[from])
    const counter = blocks.counter(parent.indexOfProcess(processOf(parent.runtime.layout, leader)))
    parts.push({ id: { leader, counter }, table: selectedTable(parentTable, members, from, to), hosted })
  }
  return parts
}

/** Returns the table of the parent's ranks `ranks[from .. to - 1]`. */
function selectedTable(parent: LocalRankTable, ranks: Int32Array, from: number, to: number): LocalRankTable {
  const first = parent.lookup(ranks[from])
  const stride = to - from > 1 ? parent.lookup(ranks[from + 1]) - first : 1
  let regular = from + 1
  while (regular < to && parent.lookup(ranks[regular]) === first + (regular - from) * stride) regular++
  if (regular === to) return stridedTable(to - from, first, stride)
  const worldRanks = new Int32Array(to - from)
  for (let i = from; i < to; i++) worldRanks[i - from] = parent.lookup(ranks[i])
  return rankTable(worldRanks)
}

const arrays = new Map<string, Int32Array>()

/**
 * The longest array that is retained; longer ones are allocated for each use, so that one large split does not retain
 * memory.
 */
const longest = 4096

/**
 * Returns scratch memory, valid until control returns to the event loop; not cleared. Allocating arrays of more than a
 * few words would dominate the cost of a small split.
 */
function scratch(name: string, length: number): Int32Array {
  if (length > longest) return new Int32Array(length)
  let array = arrays.get(name)
  if (array === undefined) {
    array = new Int32Array(longest)
    arrays.set(name, array)
  }
  return array.subarray(0, length)
}

/** The arguments of a split, by rank; color -1 means null: not a member of any communicator. */
interface SplitArguments {
  readonly color: Int32Array
  readonly key: Int32Array
}

/**
 * The resulting groups: group g has the ranks `members[start[g] .. start[g + 1] - 1]`, in the order of their new ranks.
 * Groups ascend by color.
 */
interface SplitGroups {
  readonly start: Int32Array
  readonly members: Int32Array
}

/**
 * Splits by sorting the whole table in one place: by color, then key, then rank. O(n) time and memory. Every process
 * does it for itself, once instead of once per rank (docs/split-algorithms.md#conventional-and-merging).
 */
export function groupsOfTable({ color, key }: SplitArguments): SplitGroups {
  let rows = 0
  for (let rank = 0; rank < color.length; rank++) if (color[rank] !== -1) rows++
  const words = scratch('rows', rows * width)
  for (let rank = 0, at = 0; rank < color.length; rank++) {
    if (color[rank] === -1) continue
    words[at] = color[rank]
    words[at + rowWord.key] = key[rank]
    words[at + rowWord.rank] = rank
    at += width
  }
  // Ranks ascend, and the sort is stable.
  return groupsOf(sortRows(width, words, scratch('spare rows', rows * width)))
}

const width = 3

function groupsOf(sorted: Int32Array): SplitGroups {
  const members = new Int32Array(sorted.length / width)
  const start = new Int32Array(countGroups(sorted) + 1)
  for (let i = 0, at = 0, group = 0; i < members.length; i++, at += width) {
    members[i] = sorted[at + rowWord.rank]
    if (startsGroup(sorted, at)) start[group++] = i
  }
  start[start.length - 1] = members.length
  return { start, members }
}

function countGroups(sorted: Int32Array): number {
  let groups = 0
  for (let at = 0; at < sorted.length; at += width) if (startsGroup(sorted, at)) groups++
  return groups
}

function startsGroup(sorted: Int32Array, at: number): boolean {
  return at === 0 || sorted[at] !== sorted[at - width]
}
