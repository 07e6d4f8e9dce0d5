import { isRankweaveError } from '../errors.js'
import type { Fabric, FabricCounters, FabricSession, FrameSink } from '../fabric/fabric.js'

/** A frame as the sink saw it, with copies of the memory that it was lent. */
interface ReceivedFrame {
  readonly src: number
  readonly header: readonly number[]
  readonly payload: Uint8Array
}

/** The event-loop turns without a frame in flight after which missing frames count as lost. */
const quietTurns = 200
/** The time limit for fabrics that cannot see their peers; it only ends what would hang. */
const timeoutMs = 60_000

/** A process of a conformance case: it records what it receives and waits for more. */
export class TestPeer implements FrameSink {
  readonly fabric: Fabric
  readonly received: ReceivedFrame[] = []
  readonly #session: FabricSession
  readonly #onFrame: ((src: number, header: Int32Array, payload: Uint8Array) => void) | undefined
  #farewells = 0
  #lost: string | undefined

  constructor(
    fabric: Fabric,
    session: FabricSession,
    onFrame?: (src: number, header: Int32Array, payload: Uint8Array) => void,
  ) {
    this.fabric = fabric
    this.#session = session
    this.#onFrame = onFrame
    fabric.attach(this)
  }

  frame(src: number, header: Int32Array, payload: Uint8Array): void {
    if (isFarewell(header)) {
      this.#farewells++
      return
    }
    this.received.push({ src, header: [...header], payload: payload.slice() })
    this.#onFrame?.(src, header, payload)
  }

  peerLost(peer: number, reason: string): void {
    this.#lost = `process ${peer} was lost: ${reason}`
  }

  /** @throws when the condition does not become true although no frame is in flight */
  async until(condition: () => boolean, what: string): Promise<void> {
    const deadlineMs = performance.now() + timeoutMs
    const allHere = this.#session.hosted.length === this.#session.processes
    for (let quiet = 0; !condition(); ) {
      if (this.#lost !== undefined) throw new Error(this.#lost)
      quiet = allHere && this.#session.quiet() ? quiet + 1 : 0
      if (quiet > quietTurns || performance.now() > deadlineMs) {
        throw new Error(
          `process ${this.fabric.process}: expected ${what}, received ${this.received.length} frames`,
        )
      }
      await turns(1)
    }
  }

  /** Resolves when every process has called it, so that none closes while another still needs it. */
  async part(): Promise<void> {
    for (let peer = 0; peer < this.fabric.processes; peer++) this.fabric.send(peer, farewell)
    await this.until(() => this.#farewells >= this.fabric.processes, 'a farewell from every process')
  }

  /** The number of frames delivered so far, farewells included. */
  get delivered(): number {
    return this.received.length + this.#farewells
  }

  /** Returns the counters of arrived frames, without the farewells of processes that were faster. */
  countersOfCase(): Pick<FabricCounters, 'framesReceived' | 'bytesReceived'> {
    const { framesReceived, bytesReceived } = this.fabric.counters
    return {
      framesReceived: framesReceived - this.#farewells,
      bytesReceived: bytesReceived - this.#farewells * farewell.byteLength,
    }
  }
}

const farewell = Int32Array.of(0x0fa4e, 0x11e11, 0x0fa4e, 0x11e11)

function isFarewell(header: Int32Array): boolean {
  return header.length === farewell.length && farewell.every((word, n) => header[n] === word)
}

/** @throws unless the condition holds */
export function expect(condition: boolean, expected: string, actual: unknown): void {
  if (!condition) throw new Error(`expected ${expected}, got ${String(actual)}`)
}

export function expectRefused(send: () => void, what: string): void {
  try {
    send()
  } catch (error) {
    expect(isRankweaveError(error, 'ERR_FABRIC'), `ERR_FABRIC for ${what}`, error)
    return
  }
  throw new Error(`expected ERR_FABRIC for ${what}, it was accepted`)
}

export async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve))
}

/** Returns bytes that encode source, destination, frame and position, so that misrouting cannot pass. */
export function patternBytes(src: number, dst: number, n: number, sizeBytes: number): Uint8Array {
  const bytes = new Uint8Array(sizeBytes)
  for (let i = 0; i < sizeBytes; i++) bytes[i] = src * 131 + dst * 31 + n * 7 + i + (i >>> 8)
  return bytes
}

export function expectBytes(actual: Uint8Array, expected: Uint8Array): void {
  expect(actual.byteLength === expected.byteLength, `${expected.byteLength} bytes`, actual.byteLength)
  for (let i = 0; i < expected.length; i++) {
    if (actual[i] !== expected[i]) expect(false, `byte ${i} to be ${expected[i]}`, actual[i])
  }
}

export function equalWords(actual: readonly number[], expected: ArrayLike<number>): boolean {
  return actual.length === expected.length && actual.every((word, n) => word === expected[n])
}
