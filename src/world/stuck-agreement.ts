import { bytesOf, wordsOf } from '../base/bytes.js'
import { concatenate } from '../base/packing.js'
import type { CommRuntime } from '../comm/comm-state.js'
import { Task } from '../fabric/own-handles.js'
import { frameKind, headerWord } from '../messages/process/frames.js'
import { callsOf, callsWithin } from './open-calls.js'
import { reportWaits, tally } from './world-report.js'

export interface Evidence {
  readonly waits: string
  readonly blocked: number
  readonly ended: number
  /** The calls of collectives, as {@link callsOf} lists them. */
  readonly calls: Int32Array
}

export interface StuckHandlers {
  /** Tells whether nothing in this session can continue by itself, as far as it can know. */
  stuck(): boolean
  /** Receives the result of a wave: the world is stuck, or (undefined) that is not certain. */
  decided(evidence: Evidence | undefined): void
}

const word = {
  step: 3,
  wave: 4,
  stuck: 5,
  sent: 6,
  received: 7,
  blocked: 8,
  ended: 9,
  callWords: 10,
} as const
const words = 11
const step = { ask: 1, answer: 2 } as const

interface Answer extends Evidence {
  readonly stuck: boolean
  readonly sent: number
  readonly received: number
}

/**
 * The sessions of a world agree that it is stuck. The lowest living process queries in waves. Each process answers
 * whether it is stuck and how many frames it has sent and received. The world is stuck when all processes are stuck in
 * two consecutive waves with the same counts, and as many frames were received as sent. Then no frame was in flight in
 * between, so nothing more can happen (Mattern, Algorithms for distributed termination detection, 1987: the four
 * counter method).
 *
 * A process examines itself in its own task, never while a frame is being delivered. The effects of earlier frames
 * (ranks that continue in microtasks) would not show yet, however long the thread was descheduled in between.
 *
 * What is published in shared memory is never in flight. Its watcher polls it when a frame of a wave has arrived
 * (`Fabric.watch`), so after the wave began. It counts as sent and as received where it is written, so the counts
 * change with it.
 *
 * Frames sent to a lost process are never received; then unchanged counts over many waves have to suffice.
 */
export class StuckAgreement {
  readonly #hosted: readonly CommRuntime[]
  readonly #handlers: StuckHandlers
  readonly #wavesInDoubt: number
  readonly #elsewhere = new Set<number>()
  /** The lowest process hosted here. */
  readonly #first: number
  readonly #answers = new Map<number, Answer>()
  #wave = 0
  #open = false
  #before = ''
  #stoodStill = 0
  /** The queries to answer, and whether the last answer has arrived. Both wait for the task. */
  #queries: { readonly runtime: CommRuntime; readonly asker: number; wave: number }[] = []
  #complete = false
  readonly #task = new Task(() => this.#runTask())

  constructor(hosted: readonly CommRuntime[], wavesInDoubt: number, handlers: StuckHandlers) {
    this.#hosted = hosted
    this.#handlers = handlers
    this.#wavesInDoubt = wavesInDoubt
    const here = new Set(hosted.map((runtime) => runtime.process))
    this.#first = hosted[0].process
    for (let p = 0; p < hosted[0].layout.processes; p++) if (!here.has(p)) this.#elsewhere.add(p)
    for (const runtime of hosted) {
      runtime.onService(frameKind.stuck, (src, header, payload) => {
        if (header[word.step] === step.ask) this.#noteQuery(runtime, src, header[word.wave])
        else this.#note(src, header, payload)
      })
    }
  }

  /** True in the session of the lowest process that is not lost, which asks. */
  get asks(): boolean {
    for (const process of this.#elsewhere) if (process < this.#first) return false
    return true
  }

  /** Starts a wave unless one is in progress. */
  ask(): void {
    if (this.#open) return
    this.#open = true
    this.#wave++
    this.#answers.clear()
    const header = new Int32Array(words)
    header[headerWord.kind] = frameKind.stuck
    header[word.step] = step.ask
    header[word.wave] = this.#wave
    for (const peer of this.#elsewhere) this.#hosted[0].fabric.send(peer, header)
    this.#settle()
  }

  peerLost(peer: number): void {
    this.#elsewhere.delete(peer)
    this.#answers.delete(peer)
    this.#settle()
  }

  stop(): void {
    this.#open = false
    this.#queries = []
    this.#task.cancel()
  }

  #noteQuery(runtime: CommRuntime, asker: number, wave: number): void {
    // The newer query replaces the older one of the same asker, which has no use for the first answer. An answer takes
    // much longer to make than its query.
    const before = this.#queries.find((query) => query.runtime === runtime && query.asker === asker)
    if (before === undefined) this.#queries.push({ runtime, asker, wave })
    else before.wave = wave
    this.#task.schedule()
  }

  #runTask(): void {
    for (const { runtime, asker, wave } of this.#queries.splice(0)) this.#answer(runtime, asker, wave)
    if (this.#complete) this.#decide()
  }

  #answer(runtime: CommRuntime, asker: number, wave: number): void {
    const { stuck, sent, received, blocked, ended, waits, calls } = this.#own([runtime])
    const header = new Int32Array(words)
    header[headerWord.kind] = frameKind.stuck
    header[word.step] = step.answer
    header[word.wave] = wave
    header[word.stuck] = stuck ? 1 : 0
    header[word.sent] = sent
    header[word.received] = received
    header[word.blocked] = blocked
    header[word.ended] = ended
    const { maxPayloadBytes } = runtime.fabric
    const told = callsWithin(calls, maxPayloadBytes / 2)
    header[word.callWords] = told.length
    const payload = concatenate([bytesOf(told), new TextEncoder().encode(waits)])
    runtime.fabric.send(asker, header, payload.subarray(0, maxPayloadBytes))
  }

  #note(src: number, header: Int32Array, payload: Uint8Array): void {
    if (!this.#open || header[word.wave] !== this.#wave || !this.#elsewhere.has(src)) return
    const callBytes = header[word.callWords] * Int32Array.BYTES_PER_ELEMENT
    this.#answers.set(src, {
      stuck: header[word.stuck] === 1,
      sent: header[word.sent],
      received: header[word.received],
      blocked: header[word.blocked],
      ended: header[word.ended],
      waits: new TextDecoder().decode(payload.subarray(callBytes)),
      calls: wordsOf(payload.slice(0, callBytes)),
    })
    this.#settle()
  }

  /** Decides, in the task, once every process has answered. */
  #settle(): void {
    this.#complete = this.#open && this.#answers.size >= this.#elsewhere.size
    if (this.#complete) this.#task.schedule()
  }

  #decide(): void {
    this.#complete = false
    this.#open = false
    const answers = [this.#own(this.#hosted), ...this.#answers.values()]
    const now = answers.map(({ sent, received }) => `${sent} ${received}`).join()
    const stuck = answers.every((answer) => answer.stuck)
    this.#stoodStill = stuck && now === this.#before ? this.#stoodStill + 1 : 0
    this.#before = stuck ? now : ''
    const sum = (of: (answer: Answer) => number) => answers.reduce((total, answer) => total + of(answer), 0)
    const balanced = ((sum(({ sent }) => sent) - sum(({ received }) => received)) | 0) === 0
    const sure = this.#stoodStill >= (balanced ? 1 : this.#wavesInDoubt)
    // No blocked rank is left if every rank has finished: the world is about to be closed.
    const blocked = sum((answer) => answer.blocked)
    this.#handlers.decided(
      sure && blocked > 0
        ? {
            waits: answers
              .map(({ waits }) => waits)
              .filter(Boolean)
              .join('\n'),
            blocked,
            ended: sum((answer) => answer.ended),
            calls: Int32Array.from(answers.flatMap(({ calls }) => [...calls])),
          }
        : undefined,
    )
  }

  #own(runtimes: readonly CommRuntime[]): Answer {
    let sent = 0
    let received = 0
    for (const { processCounters } of runtimes) {
      const { framesSent, framesReceived, publications } = processCounters
      sent = (sent + framesSent + publications) | 0
      received = (received + framesReceived + publications) | 0
    }
    const { blocked, ended } = tally(runtimes)
    const waits = reportWaits(runtimes)
    return { stuck: this.#handlers.stuck(), sent, received, blocked, ended, waits, calls: callsOf(runtimes) }
  }
}
