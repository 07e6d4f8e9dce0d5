import { GrowingInt32Array } from '../../../base/growing-array.js'
import { rowWord } from './rows.js'
import type { ColorRun, Slice } from './runs.js'

// A sorter sends the processes of its column the new ranks of their ranks, in runs of one color
// (docs/split-algorithms.md#new-ranks). A record has a head and the set of hosts, unless it is that of the record
// before. Then come (rank, position) of every row of the process, and the world ranks of the run if the process stores
// them itself. The words of a head are start, size, first, leader's counter, regular, stride, whether hosts follow,
// rows, pushed.
const headWords = 9

export interface Item {
  /** The position of the color's first row, and its number of rows. */
  readonly start: number
  readonly size: number
  /** The world rank of new rank 0, and the context counter of its process. */
  readonly first: number
  readonly leaderCounter: number
  readonly isRegular: boolean
  readonly stride: number
  readonly hosts: Int32Array
  /** The rank in the parent and position of every row of this process, alternating, by position. */
  readonly rows: Int32Array
  /** The world ranks of this part of the run; empty if the process looks them up. */
  readonly pushed: Int32Array
}

export class ItemWriter {
  readonly list = new GrowingInt32Array(16)
  #hosts: Int32Array | undefined

  /** Begins an item; its rows follow by {@link row}, then {@link push}. */
  begin(run: ColorRun, counter: number, rows: number, pushed: number): void {
    const { list } = this
    const isNew = this.#hosts === undefined || !sameWords(this.#hosts, run.hosts)
    list.push(run.start)
    list.push(run.end - run.start)
    list.push(run.first)
    list.push(counter)
    list.push(run.isRegular ? 1 : 0)
    list.push(run.stride)
    list.push(isNew ? 1 : 0)
    list.push(rows)
    list.push(pushed)
    if (isNew) list.append(run.hosts)
    this.#hosts = run.hosts
  }
}

/** Yields the items in a message of {@link ItemWriter}, as views of it. */
export function* itemsIn(words: Int32Array, processCount: number): Generator<Item> {
  const hostWords = (processCount + 31) >>> 5
  let hosts = new Int32Array(0)
  for (let at = 0; at < words.length; ) {
    const [start, size, first, leaderCounter, isRegular, stride, hasHosts, rows, pushed] = words.subarray(
      at,
      at + headWords,
    ) as unknown as number[] as [number, number, number, number, number, number, number, number, number]
    at += headWords
    if (hasHosts === 1) {
      hosts = words.subarray(at, at + hostWords) as Int32Array<ArrayBuffer>
      at += hostWords
    }
    const rowsAt = at
    at += 2 * rows
    const pushedAt = at
    at += pushed
    yield {
      start,
      size,
      first,
      leaderCounter,
      isRegular: isRegular === 1,
      stride,
      hosts,
      rows: words.subarray(rowsAt, pushedAt),
      pushed: words.subarray(pushedAt, at),
    }
  }
}

/** Counts the rows of one run by the process that hosts them, and records the order in which processes occur. */
export class RunTally {
  readonly rowsOf: Int32Array
  readonly touched: number[] = []

  constructor(processes: number) {
    this.rowsOf = new Int32Array(processes)
  }

  count({ processes }: Slice, from: number, to: number): void {
    for (const process of this.touched) this.rowsOf[process] = 0
    this.touched.length = 0
    for (let row = from; row < to; row++) {
      const process = processes[row]
      if (this.rowsOf[process]++ === 0) this.touched.push(process)
    }
  }
}

/**
 * Tells whether a process stores the world ranks of a communicator itself. It does so if all ranks are its own. It also
 * does so if they are at most its share of `selfHostRows`, in proportion to its ranks in it. So a process stores about
 * `selfHostRows` at most, over all communicators of a split.
 *
 * @param ranksPerProcess of the parent, on average
 */
export function selfHosts(size: number, own: number, selfHostRows: number, ranksPerProcess: number): boolean {
  return own === size || size * ranksPerProcess <= selfHostRows * own
}

function sameWords(a: Int32Array, b: Int32Array): boolean {
  if (a === b) return true
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false
  return true
}

/** Writes rank in the parent and position of the rows of a run, each to its process's writer, if it has one. */
export function writeRows(
  slice: Slice,
  from: number,
  to: number,
  writerOf: (process: number) => ItemWriter | undefined,
): void {
  const {
    base,
    rows: { words, width },
    processes,
  } = slice
  for (let row = from; row < to; row++) {
    const list = writerOf(processes[row])?.list
    if (list === undefined) continue
    list.push(words[row * width + rowWord.rank])
    list.push(base + row)
  }
}
