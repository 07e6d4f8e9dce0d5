import type { Exchange, Take } from '../../src/calls/exchange/exchange.js'

/** A frame from one process to another: what becomes of it, in the order of delivery. */
export type FrameFault = (src: number, dst: number, n: number, bytes: Uint8Array) => readonly Uint8Array[]

interface Waiting {
  resolve(bytes: Uint8Array): void
  reject(error: Error): void
}

/**
 * Exchanges of some processes in one, as a collective has them; frames arrive later, in the order of sending.
 * When no frame is in flight and a process still waits, its wait rejects with `stuck`, as a fabric's would
 * with ERR_DEADLOCK.
 *
 * @param fault of the frames between processes, the n-th of all
 */
export function memoryExchanges(
  count: number,
  fault: FrameFault = (_, __, ___, bytes) => [bytes],
): Exchange[] {
  const arrived = new Map<string, Uint8Array[]>()
  const waiting = new Map<string, Waiting[]>()
  const flying: { readonly key: string; readonly bytes: Uint8Array }[] = []
  let sent = 0
  let isScheduled = false
  const deliver = (): void => {
    isScheduled = false
    const frame = flying.shift()
    if (frame === undefined) {
      for (const [key, waits] of waiting) {
        waiting.delete(key)
        for (const { reject } of waits) reject(new Error('stuck'))
      }
      return
    }
    const waits = waiting.get(frame.key)
    const first = waits?.shift()
    if (waits?.length === 0) waiting.delete(frame.key)
    if (first !== undefined) first.resolve(frame.bytes)
    else arrived.set(frame.key, [...(arrived.get(frame.key) ?? []), frame.bytes])
    schedule()
  }
  const schedule = (): void => {
    if (isScheduled) return
    isScheduled = true
    setImmediate(deliver)
  }
  return Array.from({ length: count }, (_, me) => ({
    me,
    count,
    seq: 0,
    send(peer: number, step: number, payload: Uint8Array) {
      for (const bytes of fault(me, peer, sent++, payload.slice())) {
        flying.push({ key: `${me} ${peer} ${step}`, bytes })
      }
      schedule()
    },
    receive(peer: number, step: number): Promise<Uint8Array> {
      const key = `${peer} ${me} ${step}`
      const bytes = arrived.get(key)?.shift()
      if (bytes !== undefined) return Promise.resolve(bytes)
      schedule()
      return new Promise((resolve, reject) => {
        waiting.set(key, [...(waiting.get(key) ?? []), { resolve, reject }])
      })
    },
    take(_peer: number, _step: number, _take: Take) {
      throw new Error('planning awaits its frames')
    },
    takeInto() {
      throw new Error('planning awaits its frames')
    },
    watch() {
      throw new Error('planning awaits its frames')
    },
    eagerLimitBytes: Number.MAX_SAFE_INTEGER,
    hasFailed: false,
    isSent: true,
    whenSent(done: () => void) {
      done()
    },
    finish() {},
  }))
}
