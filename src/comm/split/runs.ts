import { GrowingInt32Array } from '../../base/growing-array.js'
import { rowWord, type SplitRows } from './rows.js'

/** A sorter's slice of the sorted table: rows at positions `base` and up, with their world ranks and processes. */
export interface Slice {
  readonly base: number
  readonly rows: SplitRows
  readonly worldRanks: Int32Array
  /** The index in the parent of the process that hosts each row. */
  readonly processes: Int32Array
}

/** Consecutive rows of one color: of a slice, or, once joined, all of that color. */
export interface ColorRun {
  readonly color: number
  /** The positions `start` to `end - 1`. */
  readonly start: number
  readonly end: number
  /** The world ranks of the first and the last row. */
  readonly first: number
  readonly last: number
  /** Whether world ranks are an arithmetic progression, and its difference (1 for a single row). */
  readonly isRegular: boolean
  readonly stride: number
  /** The parent's processes that host rows: one bit per process. */
  readonly hosts: Int32Array
}

/** Returns the end of each run of one color in a slice: row indices, ascending; the last is the number of rows. */
export function runEnds({ rows: { words, width }, worldRanks }: Slice): Int32Array {
  const ends: number[] = []
  const rows = worldRanks.length
  for (let row = 1; row <= rows; row++) {
    if (row === rows || words[row * width + rowWord.color] !== words[(row - 1) * width + rowWord.color])
      ends.push(row)
  }
  return Int32Array.from(ends)
}

/** Returns the run of rows `from` to `to - 1` of a slice. */
export function runOf(slice: Slice, from: number, to: number, processCount: number): ColorRun {
  const { base, rows, worldRanks, processes } = slice
  const hosts = new Int32Array((processCount + 31) >>> 5)
  for (let row = from; row < to; row++) {
    const process = processes[row]
    hosts[process >>> 5] = hosts[process >>> 5] | (1 << (process & 31))
  }
  const first = worldRanks[from]
  const stride = to - from > 1 ? worldRanks[from + 1] - first : 1
  let regular = from + 1
  while (regular < to && worldRanks[regular] === first + (regular - from) * stride) regular++
  return {
    color: rows.words[from * rows.width + rowWord.color],
    start: base + from,
    end: base + to,
    first,
    last: worldRanks[to - 1],
    isRegular: regular === to,
    stride,
    hosts,
  }
}

function joinRuns(a: ColorRun, b: ColorRun): ColorRun {
  const sizeA = a.end - a.start
  const sizeB = b.end - b.start
  const stride = b.first - a.last
  const isRegular =
    a.isRegular && b.isRegular && (sizeA === 1 || a.stride === stride) && (sizeB === 1 || b.stride === stride)
  return {
    color: a.color,
    start: a.start,
    end: b.end,
    first: a.first,
    last: b.last,
    isRegular,
    stride: isRegular ? stride : 1,
    hosts: a.hosts.map((bits, i) => bits | b.hosts[i]),
  }
}

/** Returns the processes in a set of hosts, ascending. */
export function hostsIn(bits: Int32Array, processes: number): number[] {
  const hosts: number[] = []
  for (let process = 0; process < processes; process++) {
    if (((bits[process >>> 5] >>> (process & 31)) & 1) === 1) hosts.push(process)
  }
  return hosts
}

const runWords = 7

/** Encodes the runs that may continue in other slices, which a sorter sends to the others of its column. */
export function encodeEnds(lead: ColorRun, trail: ColorRun, needsTable: boolean): Int32Array {
  return Int32Array.from([needsTable ? 1 : 0, ...wordsOfRun(lead), ...wordsOfRun(trail)])
}

function wordsOfRun({ color, start, end, first, last, isRegular, stride, hosts }: ColorRun): number[] {
  return [color, start, end, first, last, isRegular ? 1 : 0, stride, ...hosts]
}

function runIn(words: Int32Array, at: number, hostWords: number): ColorRun {
  const [color, start, end, first, last, isRegular, stride] = words.subarray(
    at,
    at + runWords,
  ) as unknown as [number, number, number, number, number, number, number]
  const hosts = words.subarray(at + runWords, at + runWords + hostWords)
  return { color, start, end, first, last, isRegular: isRegular === 1, stride, hosts }
}

/**
 * The first and the last run of every slice, each joined with the whole run of its color; undefined for an empty slice.
 */
interface JoinedEnds {
  readonly lead: (ColorRun | undefined)[]
  readonly trail: (ColorRun | undefined)[]
  /** The joined runs of more than one slice. */
  readonly spanning: ColorRun[]
  readonly needsTable: boolean
}

/** @param ends what every sorter of the column sent, by slice; empty for an empty slice */
export function joinEnds(ends: readonly Int32Array[], processCount: number): JoinedEnds {
  const hostWords = (processCount + 31) >>> 5
  const lead: (ColorRun | undefined)[] = ends.map(() => undefined)
  const trail: (ColorRun | undefined)[] = ends.map(() => undefined)
  const spanning: ColorRun[] = []
  let open: { run: ColorRun; assigns: (() => void)[]; slices: number } | undefined
  const close = () => {
    if (open === undefined) return
    if (open.slices > 1) spanning.push(open.run)
    for (const assign of open.assigns) assign()
  }
  let needsTable = false
  ends.forEach((words, slice) => {
    if (words.length === 0) return
    if (words[0] === 1) needsTable = true
    const first = runIn(words, 1, hostWords)
    const last = runIn(words, 1 + runWords + hostWords, hostWords)
    if (open?.run.color === first.color) {
      open.run = joinRuns(open.run, first)
      open.slices++
    } else {
      close()
      open = { run: first, assigns: [], slices: 1 }
    }
    const joined = open
    joined.assigns.push(() => {
      lead[slice] = joined.run
    })
    if (last.start === first.start) {
      joined.assigns.push(() => {
        trail[slice] = joined.run
      })
      return
    }
    close()
    const next = { run: last, assigns: [] as (() => void)[], slices: 1 }
    next.assigns.push(() => {
      trail[slice] = next.run
    })
    open = next
  })
  close()
  return { lead, trail, spanning, needsTable }
}

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
