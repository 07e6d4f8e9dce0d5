import { isSharedMemory, roundUp } from '../../base/bytes.js'
import type { CommContext } from '../../messages/process/comm-context.js'
import { frameKind, headerWord } from '../../messages/process/frames.js'

/** The least bytes of a table that is shared; smaller ones do not justify a message. */
const worthBytes = 65_536

/** The names of a communicator's tables; the index of one is a word of both frames. */
const names = ['ranks', 'topology', 'plan'] as const
type TableName = (typeof names)[number]

/**
 * The words of both frames. `table` also carries the location of its arrays; its payload is the record with its arrays
 * as {@link Place}s.
 */
const word = { name: 3, segment: 4, offset: 5, bytes: 6 } as const

/** An array of a record, in the memory that the owner located. */
interface Place {
  readonly array: 'Int32Array' | 'Uint8Array' | 'Float64Array'
  readonly at: number
  readonly length: number
}

interface Table {
  readonly record: object
  readonly adopt: (shared: object) => void
}

/**
 * Large immutable tables of one communicator, of which its processes on one node retain one copy (decision 1, across
 * threads). Every process builds its table, so no process waits for another. Then all but the first process of the node
 * request that one's table, which it moves into shared memory at the first request. Each drops its own when the reply
 * arrives. A table of a communicator that was freed meanwhile is dropped, so nothing outlives the communicator.
 */
export class SharedTables {
  readonly #state: CommContext
  /** The world process that owns the tables of this node. */
  readonly #owner: number
  readonly #tables = new Map<TableName, Table>()
  readonly #moved = new Map<TableName, MovedTable>()
  /** The world processes whose requests came before the table was built. */
  readonly #askers = new Map<TableName, number[]>()

  constructor(state: CommContext) {
    this.#state = state
    const { layout, process } = state.runtime
    const node = layout.nodeOfProcess[process]
    this.#owner = process
    for (const peer of state.processes.processes) {
      if (layout.nodeOfProcess[peer] !== node) continue
      this.#owner = peer
      break
    }
  }

  /**
   * Shares a table of this process, equal in all processes of the communicator.
   *
   * @param name which of the communicator's tables
   * @param record arrays, also in plain objects; all else in it must be structured-cloneable
   * @param adopt replaces `record`: equal, over shared memory. May never be called
   */
  share<T extends object>(name: TableName, record: T, adopt: (shared: T) => void): void {
    const { runtime, processes } = this.#state
    if (runtime.fabric.sharing === undefined || processes.count === 1 || recordBytes(record) < worthBytes)
      return
    this.#tables.set(name, { record, adopt: adopt as Table['adopt'] })
    if (this.#owner !== runtime.process) {
      const { leader, counter } = this.#state.id
      runtime.send(
        this.#owner,
        Int32Array.of(frameKind.sharedTableRequest, leader, counter, names.indexOf(name)),
      )
      return
    }
    const askers = this.#askers.get(name) ?? []
    this.#askers.delete(name)
    for (const asker of askers) this.#give(asker, name)
  }

  /** Takes in frames of the communicator, so none arrives after it was dropped. */
  frame(src: number, header: Int32Array, payload: Uint8Array): void {
    const name = names[header[word.name]]
    if (header[headerWord.kind] === frameKind.sharedTable) this.#take(src, name, header, payload)
    else if (this.#tables.has(name) || this.#moved.has(name)) this.#give(src, name)
    else this.#askers.set(name, [...(this.#askers.get(name) ?? []), src])
  }

  #take(src: number, name: TableName, header: Int32Array, payload: Uint8Array): void {
    const table = this.#tables.get(name)
    if (table === undefined) return
    this.#tables.delete(name)
    const location = { segment: header[word.segment], byteOffset: header[word.offset] }
    const memory = this.#state.runtime.fabric.sharing!.reach(src, location, header[word.bytes] >>> 0)
    table.adopt(recordOver(memory, JSON.parse(new TextDecoder().decode(payload.slice()))))
  }

  #give(asker: number, name: TableName): void {
    const { runtime, id } = this.#state
    const { fabric } = runtime
    let moved = this.#moved.get(name)
    if (moved === undefined) {
      const { record, adopt } = this.#tables.get(name)!
      this.#tables.delete(name)
      moved = moveTable(record, (sizeBytes) => fabric.sharing!.alloc(sizeBytes))
      this.#moved.set(name, moved)
      adopt(recordOver(moved.memory, moved.places))
    }
    const location = fabric.sharing!.locate(asker, moved.memory)
    const text = new TextEncoder().encode(JSON.stringify(moved.places))
    // The process that asked then retains its own copy.
    if (location === undefined || text.length > fabric.maxPayloadBytes) return
    const { segment, byteOffset } = location
    const header = Int32Array.of(frameKind.sharedTable, id.leader, id.counter, names.indexOf(name), segment)
    runtime.send(asker, Int32Array.of(...header, byteOffset, moved.memory.byteLength), text)
  }
}

interface MovedTable {
  readonly memory: Uint8Array
  readonly places: object
}

type Numbers = Int32Array | Uint8Array | Float64Array

const arrays = { Int32Array, Uint8Array, Float64Array } as const

const isNumbers = (value: unknown): value is Numbers => ArrayBuffer.isView(value)
const isRecord = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !isNumbers(value)

/** Counts the bytes of the arrays of a record that are not shared yet, or of all. */
function recordBytes(record: object, alsoShared = false): number {
  let bytes = 0
  for (const value of Object.values(record)) {
    if (isRecord(value)) bytes += recordBytes(value, alsoShared)
    else if (isNumbers(value) && (alsoShared || !isSharedMemory(value.buffer)))
      bytes += roundUp(value.byteLength, 8)
  }
  return bytes
}

function moveTable(record: object, alloc: (sizeBytes: number) => ArrayBufferLike): MovedTable {
  const memory = new Uint8Array(alloc(recordBytes(record, true)))
  let at = 0
  const placed = (value: unknown): unknown => {
    if (isRecord(value))
      return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, placed(part)]))
    if (!isNumbers(value)) return value
    const place: Place = { array: value.constructor.name as Place['array'], at, length: value.length }
    memory.set(new Uint8Array(value.buffer, value.byteOffset, value.byteLength), at)
    at += roundUp(value.byteLength, 8)
    return place
  }
  return { memory, places: placed(record) as object }
}

function recordOver({ buffer, byteOffset }: Uint8Array, places: object): object {
  const over = (value: unknown): unknown => {
    if (!isRecord(value)) return value
    const { array, at, length } = value as Partial<Place>
    if (array !== undefined) return new arrays[array](buffer as ArrayBuffer, byteOffset + at!, length)
    return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, over(part)]))
  }
  return over(places) as object
}
