import { AscendingSet } from '../../base/ascending-set.js'

/**
 * The world processes of a communicator by index, in the smallest of three forms: an arithmetic progression, O(1); an
 * ascending set with one of its processes moved to the front, a few bits per process; or a list. A process retains the
 * whole list, not only its own partners. It has to know whether a lost process hosts ranks of the communicator.
 */
export class ProcessList {
  readonly count: number
  readonly #start: number
  readonly #stride: number
  /** The position, in ascending order, of the process with index 0; 0 if the order is that of the indices. */
  readonly #first: number
  readonly #set: AscendingSet | undefined
  readonly #listed: Int32Array | undefined
  /** The indices of the listed processes, in ascending order of these; made by the first search. */
  #order: Int32Array | undefined

  /** @param processes distinct; retained if no other form is smaller */
  constructor(processes: Int32Array) {
    const count = processes.length
    const first = placeOfFirst(processes)
    const ascending = first > 0 ? movedBack(processes, first) : processes
    this.count = count
    this.#start = ascending[0] ?? 0
    this.#stride = count > 1 ? ascending[1] - ascending[0] : 1
    this.#first = first > 0 ? first : 0
    if (isProgression(ascending, this.#stride)) return
    const set = first >= 0 ? new AscendingSet(ascending) : undefined
    if (set !== undefined && set.sizeBytes < processes.byteLength) this.#set = set
    else this.#listed = processes
  }

  get sizeBytes(): number {
    return (this.#set?.sizeBytes ?? 0) + (this.#listed?.byteLength ?? 0) + (this.#order?.byteLength ?? 0)
  }

  /** Returns the world process with an index below `count`. */
  at(index: number): number {
    const listed = this.#listed
    if (listed !== undefined) return listed[index]
    const position = index > this.#first ? index : index === 0 ? this.#first : index - 1
    const set = this.#set
    return set === undefined ? this.#start + position * this.#stride : set.at(position)
  }

  indexOf(process: number): number {
    if (this.#listed !== undefined) return this.#indexListed(this.#listed, process)
    let position: number
    if (this.#set !== undefined) {
      position = this.#set.indexOf(process)
      if (position < 0) return -1
    } else {
      position = (process - this.#start) / this.#stride
      if (!(position >= 0 && position < this.count) || position !== Math.floor(position)) return -1
    }
    return position > this.#first ? position : position === this.#first ? 0 : position + 1
  }

  includes(process: number): boolean {
    return this.indexOf(process) >= 0
  }

  *[Symbol.iterator](): Generator<number> {
    for (let index = 0; index < this.count; index++) yield this.at(index)
  }

  #indexListed(listed: Int32Array, process: number): number {
    if (listed[process] === process) return process
    this.#order ??= Int32Array.from(listed, (_, index) => index).sort((a, b) => listed[a] - listed[b])
    const order = this.#order
    let low = 0
    let high = order.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (listed[order[middle]] < process) low = middle + 1
      else high = middle
    }
    return low < order.length && listed[order[low]] === process ? order[low] : -1
  }
}

/** Returns the place that the first of these would have if they were sorted; -1 if the others do not ascend. */
function placeOfFirst(processes: Int32Array): number {
  let place = 0
  for (let index = 1; index < processes.length; index++) {
    if (index > 1 && processes[index] < processes[index - 1]) return -1
    if (processes[index] < processes[0]) place = index
  }
  return place
}

/** Returns the processes with the first moved back to `place`. */
function movedBack(processes: Int32Array, place: number): Int32Array {
  const ascending = processes.slice()
  ascending.copyWithin(0, 1, place + 1)
  ascending[place] = processes[0]
  return ascending
}

function isProgression(processes: Int32Array, stride: number): boolean {
  for (let index = 1; index < processes.length; index++) {
    if (processes[index] - processes[index - 1] !== stride) return false
  }
  return true
}
