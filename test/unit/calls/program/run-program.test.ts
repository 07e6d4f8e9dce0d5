import { describe, expect, it } from 'vitest'
import type { Exchange, Room, Take } from '../../../../src/calls/exchange.js'
import { ProgramRun, type ProgramStore } from '../../../../src/calls/program/run-program.js'
import { noGates } from '../../../../src/schedule/lower/gates.js'
import type { ProcessProgram } from '../../../../src/schedule/lower/program.js'

const none = Int32Array.of()

/**
 * Frame 0 carries the own value 0, frame 1 value 1 of receive 0, frame 2 value 3 of the combination of value
 * 1 with value 2 of receive 1. Frames are exchanged with process 1 in the rounds of their numbers.
 */
const program: ProcessProgram = {
  process: 0,
  ranks: Int32Array.of(0),
  rounds: 3,
  valueTerm: Int32Array.of(0, ~0, ~0, ~0),
  ownStart: Int32Array.of(0, 1),
  send: {
    round: Int32Array.of(0, 1, 2),
    peer: Int32Array.of(1, 1, 1),
    messages: Int32Array.of(1, 1, 1),
    valueStart: Int32Array.of(0, 1, 2, 3),
    value: Int32Array.of(0, 1, 3),
  },
  receive: {
    round: Int32Array.of(0, 1),
    peer: Int32Array.of(1, 1),
    messages: Int32Array.of(1, 1),
    valueStart: Int32Array.of(1, 2, 3),
  },
  combine: { firstValue: 3, left: Int32Array.of(1), right: Int32Array.of(2) },
  gates: noGates,
  dependencies: {
    needs: Int32Array.of(0, 1, 1, 2),
    useStart: Int32Array.of(0, 2, 3, 4),
    use: Int32Array.of(1, 3, 3, 2),
  },
  fillStart: Int32Array.of(0, 0, 0, 0, 0),
  fillRank: none,
  fillSlot: none,
  counts: { framesSent: 3, framesReceived: 2, messagesSent: 3, messagesInside: 0, blocksSent: 3 },
}

/** An exchange whose frames a test delivers by step; one byte each. */
class ManualExchange implements Exchange {
  readonly me = 0
  readonly count = 2
  readonly seq = 0
  readonly eagerLimitBytes = 1_000
  readonly isSent = true
  hasFailed = false
  readonly log: string[]
  readonly #posted = new Map<number, (bytes: Uint8Array) => void>()
  readonly #sending = new Map<number, () => void>()
  readonly #early = new Map<number, Uint8Array>()

  constructor(log: string[]) {
    this.log = log
  }

  deliver(step: number, bytes = Uint8Array.of(step)): void {
    const take = this.#posted.get(step)
    this.#posted.delete(step)
    if (take === undefined) this.#early.set(step, bytes)
    else if (!this.hasFailed) take(bytes)
  }

  send(_peer: number, step: number, payload: Uint8Array, sent?: () => void): void {
    this.log.push(`send ${step}: ${payload.join()}`)
    if (sent !== undefined) this.#sending.set(step, sent)
  }

  /** The receiver has taken what was sent in a step. */
  taken(step: number): void {
    const sent = this.#sending.get(step)!
    this.#sending.delete(step)
    sent()
  }

  /** Steps of the receives that are posted and wait, and of the sends whose completion is awaited. */
  get waiting(): { readonly posted: number[]; readonly sending: number[] } {
    return { posted: [...this.#posted.keys()], sending: [...this.#sending.keys()] }
  }

  take(_peer: number, step: number, take: Take): void {
    this.#post(step, (bytes) => take(bytes, false))
  }

  takeInto(_peer: number, step: number, room: Room, landed: () => void): void {
    this.#post(step, (bytes) => {
      room(bytes.byteLength)?.set(bytes)
      landed()
    })
  }

  #post(step: number, take: (bytes: Uint8Array) => void): void {
    const early = this.#early.get(step)
    if (early === undefined) this.#posted.set(step, take)
    else take(early)
  }

  receive(): Promise<Uint8Array> {
    throw new Error('a run awaits nothing')
  }

  watch(): void {
    throw new Error('a run watches nothing')
  }

  whenSent(done: () => void): void {
    done()
  }

  finish(): void {}
}

/** One byte per value; frames land where `lands` says. */
function storeOf(log: string[], lands: boolean): ProgramStore & { readonly bytes: Uint8Array } {
  const bytes = Uint8Array.of(7, 0, 0, 0)
  return {
    bytes,
    pack: (frame) => bytes.subarray(program.send.value[frame], program.send.value[frame] + 1),
    landing: (frame) => (lands ? bytes.subarray(frame + 1, frame + 2) : undefined),
    unpack(frame, [byte]) {
      bytes[frame + 1] = byte
    },
    combine() {
      bytes[3] = 10 * bytes[1] + bytes[2]
      log.push('combine')
    },
  }
}

function started(lands = true, firstStep = 0) {
  const log: string[] = []
  const exchange = new ManualExchange(log)
  const store = storeOf(log, lands)
  const run = new ProgramRun(program, firstStep)
  const start = () => run.start(exchange, store, () => log.push('done'))
  return { log, exchange, store, run, start }
}

describe('ProgramRun', () => {
  it.each([true, false])(
    'sends each frame and combines as soon as the values are there (lands: %s)',
    (lands) => {
      const { log, exchange, run, start } = started(lands)
      start()
      expect(log).toEqual(['send 0: 7'])
      exchange.deliver(0, Uint8Array.of(4))
      expect(log).toEqual(['send 0: 7', 'send 1: 4'])
      expect(run.isActive).toBe(true)
      exchange.deliver(1, Uint8Array.of(5))
      expect(log).toEqual(['send 0: 7', 'send 1: 4', 'combine', 'send 2: 45', 'done'])
      expect(run.isActive).toBe(false)
    },
  )

  it('completes at once when all frames arrived before the start, and can start again', () => {
    const { log, exchange, start } = started()
    for (let again = 0; again < 3; again++) {
      log.length = 0
      exchange.deliver(1, Uint8Array.of(5))
      exchange.deliver(0, Uint8Array.of(4))
      start()
      expect(log).toEqual(['send 0: 7', 'send 1: 4', 'combine', 'send 2: 45', 'done'])
    }
  })

  it('numbers its steps from the first', () => {
    const { log, exchange, start } = started(true, 20)
    start()
    exchange.deliver(21)
    exchange.deliver(20)
    expect(log).toEqual(['send 20: 7', 'send 21: 20', 'combine', 'send 22: 221', 'done'])
  })

  it('does nothing more once the exchange has failed', () => {
    const { log, exchange, store, start } = started()
    const combine = store.combine
    store.combine = (combination) => {
      combine(combination)
      exchange.hasFailed = true
    }
    start()
    exchange.deliver(1)
    exchange.deliver(0)
    expect(log).toEqual(['send 0: 7', 'send 1: 0', 'combine'])
  })

  it('rejects a frame of another length', () => {
    const { exchange, start } = started()
    start()
    expect(() => exchange.deliver(0, Uint8Array.of(1, 2))).toThrow(
      expect.objectContaining({ code: 'ERR_COLLECTIVE_MISMATCH' }),
    )
  })
})
