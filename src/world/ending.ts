import { RankweaveError } from '../errors.js'
import { decodeError, encodeError } from '../messages/process/error-record.js'
import type { FramePort } from '../messages/process/frame-port.js'
import { frameKind, headerWord } from '../messages/process/frames.js'

/** The values of word 3 of a `quiesce` frame. */
const step = { done: 1, close: 2 } as const
const stepWord = 3
/** The word of a `worldEnd` frame that holds the process that failed first. */
const originWord = 3

export interface EndingHandlers {
  /** Ends all pending waits, because the world has failed. Called at most once, before `close`. */
  fail(error: unknown): void
  /** Closes the session, because no process still needs it. Called once. */
  close(outcome: WorldOutcome): void
}

export interface WorldOutcome {
  readonly failed: boolean
  readonly error: unknown
  /** The lost processes that the others have agreed to continue without. */
  readonly without: readonly number[]
}

/** The end of a world, as one session takes part in it. */
export interface WorldEnding {
  /** True once the world has failed, here or as reported by another process. */
  readonly failed: boolean
  /** Notes that every rank of a process hosted here has returned; others may run. */
  returned(process: FramePort): void
  /** Notes that every rank hosted here has returned, or that their results no longer matter. */
  done(): void
  /** Notes that a rank hosted here failed, or that the world was ended from here. Only the first error counts. */
  fail(error: unknown): void
  peerLost(peer: number, reason: string): void
  /** Ends this session by itself because agreement is no longer possible, with `error` unless it has failed already. */
  cutOff(error: RankweaveError): void
}

/**
 * The sessions of a world agree on its end and its error. Process 0 decides. Every process reports that its ranks have
 * returned (`done`) or which error they met (`worldEnd`). Process 0 passes the first error on, and once all are done it
 * lets every process `close`. Until then a process keeps serving frames, because others may need it.
 *
 * A session that hosts the whole world needs no frame for this. `AuthorityEnding` takes its place if the fabric has an
 * authority on failures and the session hosts one process.
 */
export class Ending implements WorldEnding {
  readonly #hosted: readonly FramePort[]
  readonly #handlers: EndingHandlers
  readonly #decides: boolean
  /** The processes elsewhere: all of them, or only process 0 for a session that does not decide. */
  readonly #elsewhere: readonly number[]
  /** The processes whose ranks may still run; only the deciding session counts them. */
  readonly #running = new Set<number>()
  #failure: { readonly error: unknown; readonly origin: number } | undefined
  /** The first error met here, until process 0 has decided. */
  #own: { readonly error: unknown } | undefined
  /** The loss of the first process elsewhere that was lost before its ranks had returned. */
  #loss: RankweaveError | undefined
  #isDone = false
  #closed = false

  constructor(hosted: readonly FramePort[], handlers: EndingHandlers) {
    const first = hosted[0]
    const here = new Set(hosted.map((runtime) => runtime.process))
    this.#hosted = hosted
    this.#handlers = handlers
    this.#decides = here.has(0)
    const { processes } = first.layout
    if (this.#decides) {
      for (let p = 0; p < processes; p++) this.#running.add(p)
      this.#elsewhere = [...this.#running].filter((p) => !here.has(p))
    } else {
      this.#elsewhere = [0]
    }
    for (const runtime of hosted) {
      runtime.onService(frameKind.worldEnd, (_src, header, payload) => {
        this.#failed(decodeError(payload), header[originWord])
      })
      runtime.onService(frameKind.quiesce, (src, header) => {
        if (header[stepWord] === step.done) this.#processDone(src)
        else this.#close()
      })
    }
  }

  get failed(): boolean {
    return this.#failure !== undefined || this.#own !== undefined
  }

  /**
   * Records that the process returned, so that survivors elsewhere do not wait for it. The outcome of this decision is
   * not used.
   */
  returned({ process, fabric }: FramePort): void {
    if (this.#hosted.length === 1) return
    fabric.authority?.decide(`end of ${process}`, [process], new Uint8Array(0)).catch(() => {})
  }

  done(): void {
    if (this.#isDone) return
    this.#isDone = true
    for (const { process } of this.#hosted) {
      if (this.#decides) this.#processDone(process)
      else this.#runtimeOf(process).send(0, header(frameKind.quiesce, step.done))
    }
  }

  fail(error: unknown): void {
    if (this.failed || this.#closed) return
    const origin = this.#hosted[0].process
    if (this.#decides) {
      this.#failed(error, origin)
      return
    }
    this.#own = { error }
    this.#sendError(0, error, origin)
    this.#handlers.fail(error)
    this.done()
  }

  /** Lets each session end by itself if process 0 is lost, since no process decides then. */
  peerLost(peer: number, reason: string): void {
    if (this.#closed) return
    if (this.#decides) {
      if (this.#running.has(peer)) {
        this.#loss ??= new RankweaveError(
          'ERR_PEER_LOST',
          `process ${peer} is lost, and with it the results of its ranks: ${reason}`,
          { details: { process: peer } },
        )
      }
      this.#processDone(peer)
    } else if (peer === 0) {
      this.cutOff(
        new RankweaveError(
          'ERR_PEER_LOST',
          `process 0, which ends the world for every process, is lost: ${reason}`,
          { details: { process: 0 } },
        ),
      )
    }
  }

  cutOff(error: RankweaveError): void {
    if (this.#closed) return
    if (!this.failed) {
      this.#own = { error }
      this.#handlers.fail(error)
    }
    this.#close()
  }

  #failed(error: unknown, origin: number): void {
    if (this.#failure !== undefined || this.#closed) return
    const here = this.#hosted.some((runtime) => runtime.process === origin)
    // An error of this process keeps its identity when process 0 decides for it.
    const decided = here && this.#own !== undefined ? this.#own.error : error
    this.#failure = { error: decided, origin }
    if (this.#decides) for (const peer of this.#elsewhere) this.#sendError(peer, decided, origin)
    if (this.#own === undefined) this.#handlers.fail(decided)
    this.done()
  }

  #processDone(process: number): void {
    if (!this.#running.delete(process) || this.#running.size > 0) return
    if (this.#loss !== undefined) this.#failed(this.#loss, this.#hosted[0].process)
    for (const peer of this.#elsewhere) this.#hosted[0].send(peer, header(frameKind.quiesce, step.close))
    this.#close()
  }

  #close(): void {
    if (this.#closed) return
    this.#closed = true
    const failure = this.#failure ?? this.#own
    this.#handlers.close({ failed: failure !== undefined, error: failure?.error, without: [] })
  }

  #sendError(peer: number, error: unknown, origin: number): void {
    const sender = this.#hosted[0]
    sender.send(peer, header(frameKind.worldEnd, origin), encodeError(error, sender.fabric.maxPayloadBytes))
  }

  #runtimeOf(process: number): FramePort {
    return this.#hosted.find((runtime) => runtime.process === process)!
  }
}

function header(kind: number, word3: number): Int32Array {
  const words = new Int32Array(4)
  words[headerWord.kind] = kind
  words[3] = word3
  return words
}
