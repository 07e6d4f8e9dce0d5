import { bytesOf, wordsOf } from '../../base/bytes.js'
import { packWords, unpackWords } from '../../base/packing.js'
import type { Exchange } from '../../calls/exchange/exchange.js'
import { allgatherBytes, alltoallBytes } from '../../calls/exchange/exchange-patterns.js'
import { evenBounds, givenBounds, type SliceBounds } from '../table/slice-bounds.js'
import { exchangeSteps } from './process-group.js'
import type { RowLocator } from './row-locator.js'
import { ItemWriter, RunTally, selfHosts, writeRows } from './sort/items.js'
import { type ColorRun, encodeEnds, hostsIn, joinEnds, runEnds, runOf, type Slice } from './sort/runs.js'
import { blockStart, type SorterLayout, shadowsOf, sorterBlockOf } from './sorter-layout.js'
import type { SplitCall } from './split-call.js'

/** The facts that a process knows once the column has sorted. */
export interface ColumnOutcome {
  readonly bounds: SliceBounds
  /** Whether any rank needs the table; none does if every communicator is regular or receives its rows. */
  readonly needsTable: boolean
  /** The items of the ranks here (`itemsIn`), one message per slice, in their order. */
  readonly items: readonly Int32Array[]
}

/** The outcome if no rank chose a color. */
export const emptyOutcome: ColumnOutcome = { bounds: evenBounds(0, 1), needsTable: false, items: [] }

/**
 * Sends all processes of the column the new ranks of their ranks (docs/split-algorithms.md#new-ranks). First the
 * sorters learn which colors span slices, by one allgather of a few words per sorter; then each sorter sends to each
 * process.
 *
 * @param counters context counter of every process of the parent
 */
export async function distributeOutcome(
  call: SplitCall,
  layout: SorterLayout,
  column: Exchange,
  slice: Slice,
  bounds: SliceBounds,
  locator: RowLocator,
  counters: Int32Array,
): Promise<{ outcome: ColumnOutcome; ofShadow: ColumnOutcome }> {
  const writer = new OutcomeWriter(call, layout, slice, locator)
  const ends = await allgatherBytes(column, bytesOf(writer.ends()), exchangeSteps.ends)
  const needsTable = writer.join(ends.map(wordsOf), column.me)
  const messages = writer.messages(counters)
  const received = (await alltoallBytes(column, messages.map(bytesOf), exchangeSteps.items)).map(wordsOf)
  if (!isShadowed(call, layout))
    return { outcome: { bounds, needsTable, items: received }, ofShadow: emptyOutcome }
  // If blocks have shadows, a message has two parts: for the member, for its shadow.
  const parts = received.map((words) => unpackWords(bytesOf(words)))
  const items = (part: number) => parts.map((lists) => lists[part] ?? noWords)
  return {
    outcome: { bounds, needsTable, items: items(0) },
    ofShadow: { bounds, needsTable, items: items(1) },
  }
}

/** Writes the messages in which one sorter sends the outcome of its slice. */
class OutcomeWriter {
  readonly #call: SplitCall
  readonly #layout: SorterLayout
  readonly #slice: Slice
  readonly #locator: RowLocator
  readonly #processes: number
  readonly #ranksPerProcess: number
  readonly #tally: RunTally
  /** The index after the last row of every run, and the runs. */
  readonly #runEnds: Int32Array
  readonly #runs: ColorRun[]

  constructor(call: SplitCall, layout: SorterLayout, slice: Slice, locator: RowLocator) {
    this.#call = call
    this.#layout = layout
    this.#slice = slice
    this.#locator = locator
    this.#processes = call.exchange.count
    this.#ranksPerProcess = Math.ceil(call.parent.size / this.#processes)
    this.#tally = new RunTally(this.#processes)
    this.#runEnds = runEnds(slice)
    this.#runs = Array.from(this.#runEnds, (end, i) => runOf(slice, this.#from(i), end, this.#processes))
  }

  /** Returns what the other sorters need about the first and last run here. */
  ends(): Int32Array {
    const runs = this.#runs
    if (runs.length === 0) return noWords
    const needsTable = runs.some((run, i) => {
      if (run.isRegular) return false
      if (!this.#pushesRows(run)) return true
      this.#tally.count(this.#slice, this.#from(i), this.#runEnds[i])
      return this.#tally.touched.some((process) => !this.#keeps(run, i, process))
    })
    return encodeEnds(runs[0], runs[runs.length - 1], needsTable)
  }

  /** Takes in the ends of all slices. Returns whether any rank needs the table. */
  join(ends: readonly Int32Array[], me: number): boolean {
    const { lead, trail, spanning, needsTable } = joinEnds(ends, this.#processes)
    if (this.#runs.length > 0) {
      this.#runs[0] = lead[me]!
      this.#runs[this.#runs.length - 1] = trail[me]!
    }
    const { selfHostRows } = this.#call.plan
    const receivesRows = (run: ColorRun) =>
      this.#pushesRows(run) && selfHosts(sizeOf(run), 1, selfHostRows, this.#ranksPerProcess)
    return needsTable || spanning.some((run) => !run.isRegular && !receivesRows(run))
  }

  /**
   * Returns, for every block, the items of its member in this column and, in the last column, of the member's shadow.
   */
  messages(counters: Int32Array): Int32Array[] {
    const { sorters } = this.#layout
    const writers = Array.from({ length: 2 * sorters }, () => new ItemWriter())
    const writerOf = this.#writerOf(writers)
    this.#runs.forEach((run, i) => {
      const from = this.#from(i)
      const to = this.#runEnds[i]
      const counter = counters[this.#locator.process(run.first)]
      this.#tally.count(this.#slice, from, to)
      const keeping: ItemWriter[] = []
      for (const process of this.#recipientsOf(run, i)) {
        const writer = writerOf(process)
        if (writer === undefined) continue
        const keeps = this.#pushesRows(run) && this.#keeps(run, i, process)
        writer.begin(run, counter, this.#tally.rowsOf[process], keeps ? to - from : 0)
        if (keeps) keeping.push(writer)
      }
      writeRows(this.#slice, from, to, writerOf)
      for (const { list } of keeping) list.append(this.#slice.worldRanks.subarray(from, to))
    })
    if (!isShadowed(this.#call, this.#layout)) return writers.slice(0, sorters).map(({ list }) => list.view())
    return Array.from({ length: sorters }, (_, block) => {
      const lists = [writers[block], writers[sorters + block]].map(({ list }) => list.view())
      return wordsOf(packWords(lists))
    })
  }

  #from(run: number): number {
    return run === 0 ? 0 : this.#runEnds[run - 1]
  }

  /**
   * Tells whether members of a run that store its rows themselves are sent them. With a replicated table every process
   * has them.
   */
  #pushesRows(run: ColorRun): boolean {
    return !run.isRegular && this.#call.plan.table === 'distributed'
  }

  /**
   * Returns the receivers of run i: the processes with rows of it here and, if each stores all rows, those with rows in
   * other slices.
   */
  #recipientsOf(run: ColorRun, i: number): readonly number[] {
    const isSpanning = sizeOf(run) > this.#runEnds[i] - this.#from(i)
    const all = isSpanning && this.#pushesRows(run) && this.#keeps(run, i, 0)
    return all ? hostsIn(run.hosts, this.#processes) : this.#tally.touched
  }

  #keeps(run: ColorRun, i: number, process: number): boolean {
    const isWhole = sizeOf(run) === this.#runEnds[i] - this.#from(i)
    // The number of rows that a process has of a run over several slices is not known here, but it has at least one.
    const own = isWhole ? this.#tally.rowsOf[process] : 1
    return selfHosts(sizeOf(run), own, this.#call.plan.selfHostRows, this.#ranksPerProcess)
  }

  #writerOf(writers: readonly ItemWriter[]): (process: number) => ItemWriter | undefined {
    const { sorters, columns, column } = this.#layout
    const index = Int32Array.from({ length: this.#processes }, (_, process) => {
      const block = sorterBlockOf(process, this.#processes, sorters)
      const place = process - blockStart(block, this.#processes, sorters)
      if (place === column) return block
      return place === columns && column === columns - 1 ? sorters + block : -1
    })
    return (process) => writers[index[process]]
  }
}

function isShadowed(call: SplitCall, { column, columns, sorters }: SorterLayout): boolean {
  return column === columns - 1 && shadowsOf(call.exchange.count, sorters) > 0
}

function sizeOf({ start, end }: ColorRun): number {
  return end - start
}

const noWords = new Int32Array(0)

export function sendOutcome(
  exchange: Exchange,
  peer: number,
  step: number,
  { bounds, needsTable, items }: ColumnOutcome,
): void {
  const starts =
    bounds.sizeBytes === 0 ? [] : Array.from({ length: bounds.slices + 1 }, (_, i) => bounds.start(i))
  const head = Int32Array.of(bounds.rows, bounds.slices, needsTable ? 1 : 0)
  exchange.send(peer, step, packWords([head, Int32Array.from(starts), ...items]))
}

export async function receiveOutcome(exchange: Exchange, peer: number, step: number): Promise<ColumnOutcome> {
  const [head, starts, ...items] = unpackWords(await exchange.receive(peer, step)) as [
    Int32Array,
    Int32Array,
    ...Int32Array[],
  ]
  const [rows, slices, needsTable] = head as unknown as [number, number, number]
  const bounds = starts.length === 0 ? evenBounds(rows, slices) : givenBounds(Float64Array.from(starts))
  return { bounds, needsTable: needsTable === 1, items }
}
