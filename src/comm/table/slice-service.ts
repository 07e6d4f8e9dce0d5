import { RankweaveError } from '../../errors.js'
import type { ContextId } from '../../messages/process/context-id.js'
import type { FramePort } from '../../messages/process/frame-port.js'
import { frameKind } from '../../messages/process/frames.js'

/** A distributed table's name: the communicator that was split, and which of its collectives that was. */
export interface TableId extends ContextId {
  readonly seq: number
}

/** The process whose slices are served. */
export interface SlicePort extends FramePort {
  /**
   * Whether a communicator of this process can no longer complete a collective: its splits host no further
   * slice.
   */
  hasFailed(id: ContextId): boolean
}

/** The part of a distributed table that this process serves. */
export interface HostedSlice {
  /** World ranks by position, from position `start`. */
  readonly worldRanks: Int32Array
  readonly start: number
}

/** What the home of a table needs to know before the slices of the table can be dropped. */
export interface TableHome {
  /** Processes that use the table: each reports once that it no longer does. */
  readonly users: number
  /** Number of hosts, and the world process of each. */
  readonly hosts: number
  host(index: number): number
}

/** `refused` is in replies: 1 where the slice will never be there. */
const word = { leader: 1, counter: 2, seq: 3, request: 4, from: 5, count: 6, refused: 6 } as const
const headerWords = 7

interface Pending {
  readonly process: number
  resolve(worldRanks: Int32Array): void
  reject(error: RankweaveError): void
}

interface RowRequest {
  readonly src: number
  readonly request: number
  readonly positions: Int32Array
}

interface Entry {
  readonly id: TableId
  slice: HostedSlice | undefined
  home: TableHome | undefined
  released: number
  /** Requests that came before the slice. */
  early: RowRequest[]
}

/**
 * One-sided gets for distributed tables, by service frames: a process answers from its slices whatever its
 * ranks are doing, so no rank of the host takes part (docs/split-algorithms.md#look-ups-and-lifetime). A
 * slice is retained until every process that uses its table has reported that it no longer does: they notify
 * the table's home, which notifies the hosts. Requests for a slice of a split that failed here are refused.
 */
export class SliceService {
  readonly #runtime: SlicePort
  readonly #entries = new Map<string, Entry>()
  readonly #pending = new Map<number, Pending>()
  #lastRequest = 0

  constructor(runtime: SlicePort) {
    this.#runtime = runtime
    runtime.onService(frameKind.tableGet, (src, header, payload) => this.#asked(src, header, payload))
    runtime.onService(frameKind.tableRows, (src, header, payload) => this.#answered(src, header, payload))
    runtime.onService(frameKind.tableRelease, (_src, header) => this.#released(idIn(header)))
    runtime.onService(frameKind.tableDrop, (_src, header) => this.#drop(idIn(header)))
    runtime.onTrouble({
      peerLost: (peer, error) => this.#fail(error, peer),
      ended: (error) => this.#fail(error),
    })
  }

  /** Tables of which this process retains a slice or the count of users. */
  get tables(): number {
    return this.#entries.size
  }

  /** Rows of all slices that this process serves. */
  get hostedRows(): number {
    let rows = 0
    for (const { slice } of this.#entries.values()) rows += slice?.worldRanks.length ?? 0
    return rows
  }

  /** Begins to serve a slice. */
  host(id: TableId, slice: HostedSlice): void {
    const entry = this.#entry(id)
    entry.slice = slice
    for (const request of entry.early.splice(0)) this.#reply(id, slice, request)
  }

  /**
   * The splits of this communicator that have hosted no slice here will not: a process that waits for one is
   * refused.
   */
  parentFailed({ leader, counter }: ContextId): void {
    if (this.#runtime.ended !== undefined) return
    for (const { id, slice, early } of this.#entries.values()) {
      if (slice !== undefined || id.leader !== leader || id.counter !== counter) continue
      for (const request of early.splice(0)) this.#refuse(id, request)
    }
  }

  /** Makes this process the home of a table. */
  keepHome(id: TableId, home: TableHome): void {
    this.#entry(id).home = home
    this.#dropWhenReleased(id)
  }

  /** Reports that this process no longer uses a table; none of its requests may be pending. */
  release(id: TableId, home: number): void {
    if (home === this.#runtime.process) this.#released(id)
    else this.#runtime.send(home, headerOf(frameKind.tableRelease, id))
  }

  /** World ranks at `positions`, of a slice that `process` hosts. */
  async get(id: TableId, process: number, positions: Int32Array): Promise<Int32Array> {
    const most = this.#runtime.fabric.maxPayloadBytes >>> 2
    if (positions.length <= most) return this.#ask(id, process, positions, 0, positions.length)
    const worldRanks = new Int32Array(positions.length)
    const parts: Promise<void>[] = []
    for (let at = 0; at < positions.length; at += most) {
      const part = positions.subarray(at, at + most)
      parts.push(
        this.#ask(id, process, part, 0, part.length).then((found) => {
          worldRanks.set(found, at)
        }),
      )
    }
    await Promise.all(parts)
    return worldRanks
  }

  /** World ranks at positions `from` to `from + count - 1`, all of a slice that `process` hosts. */
  async getRange(id: TableId, process: number, from: number, count: number): Promise<Int32Array> {
    const most = this.#runtime.fabric.maxPayloadBytes >>> 2
    const worldRanks = new Int32Array(count)
    const parts: Promise<void>[] = []
    for (let at = 0; at < count; at += most) {
      parts.push(
        this.#ask(id, process, noPositions, from + at, Math.min(most, count - at)).then((found) => {
          worldRanks.set(found, at)
        }),
      )
    }
    await Promise.all(parts)
    return worldRanks
  }

  #ask(
    id: TableId,
    process: number,
    positions: Int32Array,
    from: number,
    count: number,
  ): Promise<Int32Array> {
    const runtime = this.#runtime
    const failed = runtime.ended ?? runtime.lostPeer(process)
    if (failed !== undefined) return Promise.reject(failed)
    this.#lastRequest = (this.#lastRequest + 1) | 0
    const request = this.#lastRequest
    const header = headerOf(frameKind.tableGet, id)
    header[word.request] = request
    header[word.from] = from
    header[word.count] = count
    const answer = new Promise<Int32Array>((resolve, reject) => {
      this.#pending.set(request, { process, resolve, reject })
    })
    // A request keeps the program alive until it is answered.
    runtime.fabric.ref()
    const { buffer, byteOffset, byteLength } = positions
    runtime.send(process, header, new Uint8Array(buffer, byteOffset, byteLength))
    return answer
  }

  #asked(src: number, header: Int32Array, payload: Uint8Array): void {
    const id = idIn(header)
    const entry = this.#entry(id)
    const positions =
      payload.byteLength > 0
        ? new Int32Array(payload.slice().buffer)
        : Int32Array.from({ length: header[word.count] }, (_, i) => header[word.from] + i)
    const request = { src, request: header[word.request], positions }
    if (entry.slice !== undefined) this.#reply(id, entry.slice, request)
    else if (this.#runtime.hasFailed(id)) this.#refuse(id, request)
    else entry.early.push(request)
  }

  #refuse(id: TableId, { src, request }: RowRequest): void {
    const header = headerOf(frameKind.tableRows, id)
    header[word.request] = request
    header[word.refused] = 1
    this.#runtime.send(src, header)
  }

  #reply(id: TableId, { worldRanks, start }: HostedSlice, { src, request, positions }: RowRequest): void {
    const found = positions.map((position) => worldRanks[position - start])
    const header = headerOf(frameKind.tableRows, id)
    header[word.request] = request
    this.#runtime.send(src, header, new Uint8Array(found.buffer))
  }

  #answered(src: number, header: Int32Array, payload: Uint8Array): void {
    const pending = this.#take(header[word.request])
    if (header[word.refused] === 0) pending?.resolve(new Int32Array(payload.slice().buffer))
    else {
      const message = `a part of the rank table is missing: on process ${src} the split that made it failed`
      pending?.reject(new RankweaveError('ERR_REVOKED', message, { details: { process: src } }))
    }
  }

  #take(request: number): Pending | undefined {
    const pending = this.#pending.get(request)
    if (pending === undefined) return undefined
    this.#pending.delete(request)
    this.#runtime.fabric.unref()
    return pending
  }

  #released(id: TableId): void {
    this.#entry(id).released++
    this.#dropWhenReleased(id)
  }

  #dropWhenReleased(id: TableId): void {
    const { home, released } = this.#entry(id)
    if (home === undefined || released < home.users) return
    for (let index = 0; index < home.hosts; index++) {
      const host = home.host(index)
      if (host !== this.#runtime.process) this.#runtime.send(host, headerOf(frameKind.tableDrop, id))
    }
    this.#drop(id)
  }

  #drop(id: TableId): void {
    this.#entries.delete(nameOf(id))
  }

  #fail(error: RankweaveError, process?: number): void {
    for (const [request, pending] of [...this.#pending]) {
      if (process === undefined || pending.process === process) this.#take(request)?.reject(error)
    }
    if (process === undefined) this.#entries.clear()
  }

  #entry(id: TableId): Entry {
    const name = nameOf(id)
    let entry = this.#entries.get(name)
    if (entry === undefined) {
      entry = { id, slice: undefined, home: undefined, released: 0, early: [] }
      this.#entries.set(name, entry)
    }
    return entry
  }
}

const noPositions = new Int32Array(0)

function nameOf({ leader, counter, seq }: TableId): string {
  return `${leader}.${counter}.${seq}`
}

function headerOf(kind: number, { leader, counter, seq }: TableId): Int32Array {
  const header = new Int32Array(headerWords)
  header[0] = kind
  header[word.leader] = leader
  header[word.counter] = counter
  header[word.seq] = seq
  return header
}

function idIn(header: Int32Array): TableId {
  return { leader: header[word.leader], counter: header[word.counter], seq: header[word.seq] }
}
