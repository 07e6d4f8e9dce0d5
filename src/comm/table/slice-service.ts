import { bytesOf } from '../../base/bytes.js'
import { rangeAt } from '../../base/search.js'
import { RankweaveError, wrongValue } from '../../errors.js'
import { type Credit, waitCharge } from '../../messages/process/credit.js'
import type { FramePort } from '../../messages/process/frame-port.js'
import { type ContextId, frameKind } from '../../messages/process/frames.js'

/** A distributed table's name: the communicator that was split, and which of its collectives that was. */
export interface TableId extends ContextId {
  readonly seq: number
}

interface SlicePort extends FramePort {
  readonly credit: Pick<Credit, 'waits'>
  /**
   * Tells whether a communicator of this process can no longer complete a collective, so that its splits host no
   * further slice.
   */
  hasFailed(id: ContextId): boolean
}

export interface HostedSlice {
  /** The world ranks by position, from position `start`. */
  readonly worldRanks: Int32Array
  readonly start: number
}

/** The facts that the home of a table needs before the slices of the table can be dropped. */
interface TableHome {
  /** The number of processes that use the table; each reports once that it no longer does. */
  readonly users: number
  readonly hosts: number
  host(index: number): number
}

/** The words of the frames. `refused` is in replies: 1 if the slice will never be there. */
const word = { leader: 1, counter: 2, seq: 3, request: 4, from: 5, count: 6, refused: 6 } as const
const headerWords = 7

interface Pending {
  readonly process: number
  readonly count: number
  resolve(worldRanks: Int32Array): void
  reject(error: RankweaveError): void
}

/** A request for the rows at `positions`, or for `count` rows from `from`. */
interface RowRequest {
  readonly src: number
  readonly request: number
  readonly positions: Int32Array
  readonly from: number
  readonly count: number
}

interface Entry {
  readonly id: TableId
  slice: HostedSlice | undefined
  /** The process that decides when the slice is dropped. */
  dropper: number
  home: TableHome | undefined
  readonly released: Set<number>
  early: RowRequest[]
}

/**
 * Serves one-sided gets for distributed tables, by service frames. A process answers from its slices whatever its ranks
 * are doing, so no rank of the host takes part (docs/split-algorithms.md#look-ups-and-lifetime). A slice is retained
 * until every process that uses its table has reported that it no longer does. They notify the table's home, which
 * notifies the hosts. Requests for a slice of a split that failed here are refused.
 *
 * Other processes may send messages about tables that are not here yet, which take memory. A request is stored
 * unchanged and charged to its sender ({@link waitCharge}), like a report that a table is no longer used.
 */
export class SliceService {
  readonly #runtime: SlicePort
  readonly #entries = new Map<string, Entry>()
  readonly #pending = new Map<number, Pending>()
  #lastRequest = 0

  constructor(runtime: SlicePort) {
    this.#runtime = runtime
    runtime.onService(frameKind.sliceLookup, (src, header, payload) => this.#asked(src, header, payload))
    runtime.onService(frameKind.sliceRows, (src, header, payload) => this.#answered(src, header, payload))
    runtime.onService(frameKind.sliceRelease, (src, header) => this.#released(src, idIn(header)))
    runtime.onService(frameKind.sliceDrop, (src, header) => this.#dropped(src, idIn(header)))
    runtime.onTrouble({
      peerLost: (peer, error) => {
        this.#fail(error, peer)
        this.#forget(peer)
      },
      ended: (error) => this.#fail(error),
    })
  }

  /** The number of tables of which this process retains a slice or the count of users. */
  get tables(): number {
    return this.#entries.size
  }

  get hostedRows(): number {
    let rows = 0
    for (const { slice } of this.#entries.values()) rows += slice?.worldRanks.length ?? 0
    return rows
  }

  /** Begins to serve a slice of a table whose users process `home` counts. */
  host(id: TableId, slice: HostedSlice, home: number): void {
    const entry = this.#entry(id)
    entry.slice = slice
    entry.dropper = home
    for (const request of this.#takeEarly(entry)) this.#reply(id, slice, request)
  }

  /**
   * Refuses processes that wait for a slice of this communicator's splits, since splits that have hosted no slice here
   * will not.
   */
  parentFailed({ leader, counter }: ContextId): void {
    if (this.#runtime.ended !== undefined) return
    for (const entry of this.#entries.values()) {
      const { id, slice } = entry
      if (slice !== undefined || id.leader !== leader || id.counter !== counter) continue
      for (const request of this.#takeEarly(entry)) this.#refuse(id, request)
      this.#removeIfEmpty(entry)
    }
  }

  keepHome(id: TableId, home: TableHome): void {
    const entry = this.#entry(id)
    entry.home = home
    for (const process of entry.released) this.#charge(process, -waitCharge.lookup)
    this.#dropWhenReleased(entry)
  }

  /** Reports that this process no longer uses a table; none of its requests may be pending. */
  release(id: TableId, home: number): void {
    if (home === this.#runtime.process) this.#released(home, id)
    else this.#runtime.send(home, headerOf(frameKind.sliceRelease, id))
  }

  /** Returns the world ranks at `positions`, of a slice that `process` hosts. */
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

  /** Returns the world ranks at positions `from` to `from + count - 1`, all of a slice that `process` hosts. */
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
    const header = headerOf(frameKind.sliceLookup, id)
    header[word.request] = request
    header[word.from] = from
    header[word.count] = count
    const answer = new Promise<Int32Array>((resolve, reject) => {
      this.#pending.set(request, { process, count, resolve, reject })
    })
    // A request keeps the program alive until it is answered.
    runtime.fabric.ref()
    const { buffer, byteOffset, byteLength } = positions
    runtime.send(process, header, new Uint8Array(buffer, byteOffset, byteLength))
    return answer
  }

  #asked(src: number, header: Int32Array, payload: Uint8Array): void {
    const id = idIn(header)
    const positions = payload.length === 0 ? noPositions : new Int32Array(payload.slice().buffer)
    const [from, count] = [header[word.from], header[word.count]]
    const request = { src, request: header[word.request], positions, from, count }
    const slice = this.#entries.get(nameOf(id))?.slice
    if (slice !== undefined) this.#reply(id, slice, request)
    else if (this.#runtime.hasFailed(id)) this.#refuse(id, request)
    else {
      this.#charge(src, waitCharge.lookup + payload.length)
      this.#entry(id).early.push(request)
    }
  }

  /**
   * Takes out requests that no longer wait.
   *
   * @param isTaken default: all
   */
  #takeEarly(entry: Entry, isTaken: (request: RowRequest) => boolean = () => true): RowRequest[] {
    const taken = entry.early.filter(isTaken)
    entry.early = entry.early.filter((request) => !isTaken(request))
    for (const { src, positions } of taken) this.#charge(src, -waitCharge.lookup - positions.byteLength)
    return taken
  }

  /** Forgets the messages of a lost process about tables that are not here yet; its charges go with them. */
  #forget(lost: number): void {
    for (const entry of this.#entries.values()) {
      this.#takeEarly(entry, ({ src }) => src === lost)
      if (entry.home === undefined && entry.released.delete(lost)) this.#charge(lost, -waitCharge.lookup)
      this.#removeIfEmpty(entry)
    }
  }

  #removeIfEmpty({ id, slice, home, released, early }: Entry): void {
    if (slice === undefined && home === undefined && released.size + early.length === 0)
      this.#entries.delete(nameOf(id))
  }

  #charge(process: number, sizeBytes: number): void {
    if (process !== this.#runtime.process) this.#runtime.credit.waits(process, sizeBytes)
  }

  #refuse(id: TableId, { src, request }: RowRequest): void {
    const header = headerOf(frameKind.sliceRows, id)
    header[word.request] = request
    header[word.refused] = 1
    this.#runtime.send(src, header)
  }

  /**
   * Replies to a request. Rows that are not in the slice are refused, because a correct process does not request them.
   */
  #reply(id: TableId, { worldRanks, start }: HostedSlice, asked: RowRequest): void {
    const { src, positions, from, count } = asked
    const isHere = (position: number) => position >= start && position < start + worldRanks.length
    const isRange = positions.length === 0
    if (isRange ? count > 0 && !(isHere(from) && isHere(from + count - 1)) : !positions.every(isHere)) {
      this.#refuse(id, asked)
      return
    }
    const found = isRange
      ? worldRanks.subarray(from - start, from - start + count)
      : positions.map((position) => worldRanks[position - start])
    const header = headerOf(frameKind.sliceRows, id)
    header[word.request] = asked.request
    this.#runtime.send(src, header, bytesOf(found))
  }

  /** @throws ERR_PROTOCOL for the answer of another process, or with other rows than were requested */
  #answered(src: number, header: Int32Array, payload: Uint8Array): void {
    const pending = this.#pending.get(header[word.request])
    if (pending === undefined) return
    if (pending.process !== src)
      throw wrongValue('ERR_PROTOCOL', `rows of a table: expected them of process ${pending.process}`, src)
    const isRefused = header[word.refused] !== 0
    if (!isRefused && payload.length !== pending.count * 4)
      throw wrongValue('ERR_PROTOCOL', `rows of a table: expected ${pending.count}`, payload.length / 4)
    this.#take(header[word.request])
    if (!isRefused) pending.resolve(new Int32Array(payload.slice().buffer))
    else {
      const message = `a part of the rank table is missing: on process ${src} the split that made it failed`
      pending.reject(new RankweaveError('ERR_REVOKED', message, { details: { process: src } }))
    }
  }

  #take(request: number): Pending | undefined {
    const pending = this.#pending.get(request)
    if (pending === undefined) return undefined
    this.#pending.delete(request)
    this.#runtime.fabric.unref()
    return pending
  }

  /** @throws ERR_PROTOCOL for the second report of a process */
  #released(process: number, id: TableId): void {
    const entry = this.#entry(id)
    if (entry.released.has(process)) {
      const message = `a rank table: expected one release of a process, got two of ${process}`
      throw new RankweaveError('ERR_PROTOCOL', message)
    }
    if (entry.home === undefined) this.#charge(process, waitCharge.lookup)
    entry.released.add(process)
    this.#dropWhenReleased(entry)
  }

  #dropWhenReleased({ id, home, released }: Entry): void {
    if (home === undefined || released.size < home.users) return
    for (let index = 0; index < home.hosts; index++) {
      const host = home.host(index)
      if (host !== this.#runtime.process) this.#runtime.send(host, headerOf(frameKind.sliceDrop, id))
    }
    this.#entries.delete(nameOf(id))
  }

  /** @throws ERR_PROTOCOL unless it comes from the home of the table */
  #dropped(src: number, id: TableId): void {
    const entry = this.#entries.get(nameOf(id))
    if (entry?.slice === undefined) return
    if (src !== entry.dropper)
      throw wrongValue('ERR_PROTOCOL', `a rank table: expected process ${entry.dropper} to drop it`, src)
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
      entry = { id, slice: undefined, dropper: -1, home: undefined, released: new Set(), early: [] }
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

/**
 * The places where the slices of a distributed table begin: slice i holds positions `start(i)` to `start(i + 1) - 1`.
 */
export interface SliceBounds {
  readonly slices: number
  readonly rows: number
  start(slice: number): number
  /** Returns the slice that holds a position below `rows`. */
  sliceOf(position: number): number
  /** Returns every slice divided into `parts` that differ by at most one row; even bounds stay even. */
  subdivided(parts: number): SliceBounds
  readonly sizeBytes: number
}

/**
 * Returns bounds at which slice i begins at floor(i N / P'): sizes differ by 1 at most, and nothing is stored
 * (docs/split-algorithms.md#look-ups-and-lifetime).
 */
export function evenBounds(rows: number, slices: number): SliceBounds {
  return {
    slices,
    rows,
    sizeBytes: 0,
    start: (slice) => Math.floor((slice * rows) / slices),
    subdivided: (parts) => evenBounds(rows, slices * parts),
    sliceOf: (position) => Math.floor(((position + 1) * slices - 1) / rows),
  }
}

/** Returns the bounds of inexact splitters, ascending, `slices + 1` of them. */
export function givenBounds(starts: Float64Array): SliceBounds {
  const slices = starts.length - 1
  return {
    slices,
    rows: starts[slices],
    sizeBytes: starts.byteLength,
    start: (slice) => starts[slice],
    subdivided: (parts) =>
      givenBounds(
        Float64Array.from({ length: slices * parts + 1 }, (_, i) => {
          const slice = Math.floor(i / parts)
          const start = starts[slice]
          const rows = (starts[slice + 1] ?? start) - start
          return start + Math.floor(((i % parts) * rows) / parts)
        }),
      ),
    sliceOf: (position) => rangeAt(starts, position),
  }
}
