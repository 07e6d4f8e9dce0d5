// The phases of a parallel-sort split by the method of Sack 2011 §2.4 (split.md §14), in a process of its own: the p
// sorters run one after another and a phase takes as long as its slowest sorter; data moves in memory. Prints one
// JSON object per number of sorters, then one for the split that merges at every stage.
import { sortedByValue } from '../src/comm/split/radix.js'
import { countRows, mergeRows, type Rows, rowsBetween } from '../src/comm/split/rows.js'
import { sortRuns } from '../src/comm/split/sort-runs.js'
import { evenTargets, Owner, Seeker, verdictWords } from '../src/comm/split/splitters.js'

const width = 3
const [n, runs, most] = process.argv.slice(2).map(Number)
const median = (values: number[]) => values.sort((a, b) => a - b)[values.length >> 1]

/** `most` sorted lists of n / most rows each, one after another: color 0, random keys, ranks ascending by list. */
function sortedLists(): Int32Array {
  const words = new Int32Array(n * width)
  const rows = n / most
  let state = 12345
  const keys = new Int32Array(rows)
  const indices = Int32Array.from({ length: rows }, (_, i) => i)
  for (let list = 0; list < most; list++) {
    for (let i = 0; i < rows; i++) {
      state ^= state << 13
      state ^= state >>> 17
      state ^= state << 5
      keys[i] = state
    }
    const order = sortedByValue(indices, keys)
    for (let i = 0, at = list * rows * width; i < rows; i++, at += width) {
      words[at + 1] = keys[order[i]]
      words[at + 2] = list * rows + order[i]
    }
  }
  return words
}

function seconds(work: () => void): number {
  const begin = performance.now()
  work()
  return (performance.now() - begin) / 1000
}

/** Stages of two processes: each moves h rows and merges them with its own h, until `rows` are together. */
function stages(own: Rows, peer: Rows, rows: number, received: Int32Array, merged: Int32Array): number {
  return seconds(() => {
    for (let h = 1; 2 * h <= rows; h *= 2) {
      received.set(rowsBetween(peer, 0, h))
      mergeRows(width, own.words, 0, h * width, received, 0, h * width, merged, 0)
    }
  })
}

interface Search {
  readonly seekers: Seeker[]
  readonly rounds: number
}

function search(lists: readonly Rows[]): Search {
  const p = lists.length
  const targets = evenTargets(n, p)
  const seekers = lists.map((rows) => new Seeker(rows, targets))
  const owners = lists.map((_, k) => new Owner(targets[k]))
  while (!seekers[0].isDone) {
    const answers = seekers.map((seeker) => seeker.answers())
    const verdicts = new Int32Array(p * verdictWords)
    owners.forEach((owner, k) => {
      verdicts.set(owner.decide(answers.map((of) => of[k])), k * verdictWords)
    })
    for (const seeker of seekers) seeker.hear(verdicts)
  }
  return { seekers, rounds: Math.max(...owners.map(({ rounds }) => rounds)) }
}

function measure(p: number, words: Int32Array) {
  const rows = n / p
  const lists = Array.from(
    { length: p },
    (_, i): Rows => ({
      width,
      words: words.subarray(i * rows * width, (i + 1) * rows * width),
    }),
  )
  const received = new Int32Array(rows * width)
  const spare = new Int32Array(rows * width)
  const runsOf: Record<string, number[]> = { collect: [], splitters: [] }
  // By sorter: a run that was disturbed counts for one sorter only.
  const exchanges = Array.from({ length: p }, (): number[] => [])
  const merges = Array.from({ length: p }, (): number[] => [])
  let rounds = 0
  for (let run = 0; run < runs; run++) {
    runsOf['collect'].push(stages(lists[0], lists[1], rows, spare, received))
    let found: Search | undefined
    runsOf['splitters'].push(seconds(() => (found = search(lists))) / p)
    rounds = found!.rounds
    let below: Int32Array | undefined
    for (let k = 0; k < p; k++) {
      const bounds = [0]
      exchanges[k].push(
        seconds(() => {
          found!.seekers.forEach(({ cuts }, i) => {
            const piece = rowsBetween(lists[i], cuts[k], cuts[k + 1])
            const at = bounds[bounds.length - 1]
            received.set(piece, at)
            bounds.push(at + piece.length)
          })
        }),
      )
      let slice: Int32Array = received
      merges[k].push(seconds(() => (slice = sortRuns(width, received, bounds, spare))))
      check(slice, bounds[bounds.length - 1] === rows * width, below)
      below = slice.slice(-width)
    }
  }
  const medians: Record<string, number> = {
    collect: median(runsOf['collect']),
    splitters: median(runsOf['splitters']),
    exchange: Math.max(...exchanges.map(median)),
    merge: Math.max(...merges.map(median)),
  }
  medians['total'] = Object.values(medians).reduce((sum, took) => sum + took, 0)
  // Messages on the critical path (split.md §10).
  const log = Math.ceil(Math.log2(p))
  const messages = Math.ceil(Math.log2(rows)) + 2 * log + (2 * rounds + 2) * log + (p - 1)
  console.log(JSON.stringify({ n, p, rounds, messages, ...medians }))
}

/** A slice is wrong if it is not sorted, not as long as it must be, or begins below the end of the one before. */
function check(slice: Int32Array, isFull: boolean, below: Int32Array | undefined): void {
  let isRight = isFull
  const before = (a: Int32Array, i: number, b: Int32Array, j: number) =>
    a[i + 1] < b[j + 1] || (a[i + 1] === b[j + 1] && a[i + 2] < b[j + 2])
  for (let at = width; at < slice.length; at += width) isRight &&= before(slice, at - width, slice, at)
  if (below !== undefined) isRight &&= before(below, 0, slice, 0)
  if (!isRight) throw new Error('a slice is wrong')
}

let words: Int32Array = sortedLists()
let spare: Int32Array = new Int32Array(n * width)
for (let p = most; p >= 2; p /= 2) {
  measure(p, words)
  if (p === 2) break
  // Half as many lists, twice as long.
  const rows = n / p
  for (let pair = 0; pair < p; pair += 2) {
    const [start, middle, end] = [pair, pair + 1, pair + 2].map((list) => list * rows * width)
    mergeRows(width, words, start, middle, words, middle, end, spare, start)
  }
  const merged = spare
  spare = words
  words = merged
}
const half = (n / 2) * width
const lists = [0, 1].map((i): Rows => ({ width, words: words.subarray(i * half, (i + 1) * half) }))
const received = new Int32Array(half)
const merging = Array.from({ length: runs }, () => stages(lists[0], lists[1], n, received, spare))
if (countRows({ width, words: spare }) !== n) throw new Error('rows are missing')
check(spare, true, undefined)
console.log(JSON.stringify({ n, merging: median(merging) }))
