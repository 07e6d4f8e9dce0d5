import { processOf } from '../../messages/process/world-layout.js'
import type { CommTable } from '../table/distributed-table.js'
import { type RowWidth, rowWord, type SplitRows } from './sort/rows.js'
import type { SplitParent } from './split-call.js'

/** Finds the world ranks of the rows of a split, and the parent's processes that host them. */
export class RowLocator {
  /** The words per row: 4 if the parent's table was distributed, since rows then carry their world ranks. */
  readonly width: RowWidth
  readonly #parent: SplitParent
  readonly #table: CommTable
  /** The index in the parent of every world process. */
  readonly #indexOf: Int32Array

  constructor(parent: SplitParent) {
    const { layout } = parent.runtime
    this.width = parent.wasDistributed ? 4 : 3
    this.#parent = parent
    this.#table = parent.table
    this.#indexOf = new Int32Array(layout.processes).fill(-1)
    let index = 0
    for (const process of parent.processes.processes) this.#indexOf[process] = index++
  }

  /** Returns the world rank of the row at word `at`. */
  worldRank({ words, width }: SplitRows, at: number): number {
    return width === 4
      ? words[at + rowWord.worldRank]
      : (this.#table.lookup(words[at + rowWord.rank]) as number)
  }

  /** Returns the index in the parent of the process that hosts a world rank. */
  process(worldRank: number): number {
    return this.#indexOf[processOf(this.#parent.runtime.layout, worldRank)]
  }
}
