import { smallestOf } from '../base/search.js'
import { RankweaveError } from '../errors.js'
import type { Authority, Decision, FabricSession } from '../fabric/fabric.js'
import { decodeError, encodeError } from '../messages/process/error-record.js'
import type { Acknowledgements } from '../messages/process/failures.js'
import type { FramePort } from '../messages/process/frame-port.js'
import { frameKind, headerWord } from '../messages/process/frames.js'

/** The values of word 3 of a `quiesce` frame. */
const step = { done: 1, close: 2 } as const
const stepWord = 3
/** The word of a `worldEnd` frame that holds the process that failed first. */
const originWord = 3

interface EndingHandlers {
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
class Ending implements WorldEnding {
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

/** A process that hosts ranks, as the end of the world sees it. */
interface EndingProcess extends FramePort {
  readonly acknowledgements: Acknowledgements
}

/**
 * Returns an `AuthorityEnding` if the fabric has an authority and this session hosts one process of several, otherwise
 * an `Ending`.
 */
export function endingOf(
  session: FabricSession,
  hosted: readonly EndingProcess[],
  handlers: EndingHandlers,
): WorldEnding {
  const [only] = hosted
  const authority = only?.fabric.authority
  const isOneOfMany = hosted.length === 1 && session.processes > 1
  return isOneOfMany && authority !== undefined
    ? new AuthorityEnding(only, authority, handlers)
    : new Ending(hosted, handlers)
}

/** The most losses that one contribution covers, with two bits each. */
const lossesPerDecision = 256
const bit = { acknowledged: 1, ignored: 2 } as const

/**
 * The end of a world whose fabric has an authority on failures. The decision needs no particular process, so any may be
 * lost. Every process contributes to one decision when its ranks have returned or failed; processes that are lost
 * before do not. A process that fails announces it to all others at once, so that their ranks need not wait.
 *
 * A loss is survived if some living rank has acknowledged it and no rank has returned although it knew of it. Otherwise
 * the world fails with ERR_PEER_LOST. The processes decide this a second time, only after losses. It also concerns lost
 * ranks that had returned, because their results may not have left their process.
 */
class AuthorityEnding implements WorldEnding {
  readonly #process: EndingProcess
  readonly #authority: Authority
  readonly #handlers: EndingHandlers
  /** The failure of the lowest process that is known to have failed, which the decision names. */
  #failure: { readonly error: unknown; readonly origin: number } | undefined
  /**
   * The first error of every process that is known to have failed. A process that fails after it has contributed is not
   * chosen.
   */
  readonly #errors = new Map<number, unknown>()
  /** The process whose error becomes that of the world, once decided. */
  #chosen: number | undefined
  #without: readonly number[] = []
  #isFailing = false
  #isDone = false
  #closed = false

  constructor(process: EndingProcess, authority: Authority, handlers: EndingHandlers) {
    this.#process = process
    this.#authority = authority
    this.#handlers = handlers
    process.onService(frameKind.worldEnd, (src, header, payload) => {
      const origin = header[originWord]
      if (origin !== src) throw impossible(src, `its own failure, got one of process ${origin}`)
      this.#heard(decodeError(payload), origin)
    })
  }

  get failed(): boolean {
    return this.#failure !== undefined
  }

  /** A process is the only one of its session, so `done` follows. */
  returned(): void {}

  done(): void {
    if (this.#isDone) return
    this.#isDone = true
    this.#decide().catch((error) => this.cutOff(error))
  }

  fail(error: unknown): void {
    if (this.failed || this.#closed) return
    this.#failure = { error, origin: this.#process.process }
    this.#announce(error)
    this.#failHere(error)
  }

  /** Reports the failure of this process to all others. */
  #announce(error: unknown): void {
    const { process, fabric, layout } = this.#process
    this.#errors.set(process, error)
    const words = new Int32Array(4)
    words[headerWord.kind] = frameKind.worldEnd
    words[originWord] = process
    const record = encodeError(error, fabric.maxPayloadBytes)
    for (let peer = 0; peer < layout.processes; peer++) {
      if (peer !== process) this.#process.send(peer, words, record)
    }
  }

  peerLost(): void {
    this.#closeWhenHeard()
  }

  cutOff(error: RankweaveError): void {
    if (this.#closed) return
    this.#failure ??= { error, origin: this.#process.process }
    this.#failHere(error)
    this.#close()
  }

  #heard(error: unknown, origin: number): void {
    if (this.#closed) return
    if (!this.#errors.has(origin)) this.#errors.set(origin, error)
    if (this.#failure === undefined || origin < this.#failure.origin) this.#failure = { error, origin }
    this.#failHere(error)
    this.#closeWhenHeard()
  }

  #failHere(error: unknown): void {
    if (this.#isFailing) return
    this.#isFailing = true
    this.#handlers.fail(error)
    this.done()
  }

  async #decide(): Promise<void> {
    const all = Array.from({ length: this.#process.layout.processes }, (_, process) => process)
    const own = new DataView(new ArrayBuffer(4))
    own.setInt32(0, this.#failure?.origin ?? -1, true)
    const decision = await this.#authority.decide('end', all, new Uint8Array(own.buffer))
    const origins = decision.contributions.map((bytes, sender) => this.#originIn(bytes, sender))
    const failed = origins.filter((origin) => origin >= 0)
    if (failed.length > 0) {
      this.#choose(smallestOf(failed), origins)
      return
    }
    this.#without = decision.lost
    const fatal = await this.#unsurvived(all, decision)
    if (fatal !== undefined) {
      this.#failure = { error: this.#lossOf(fatal), origin: fatal }
      this.#failHere(this.#failure.error)
    }
    this.#close()
  }

  /**
   * Returns the process whose failure a contribution names, or -1 if it names none. A malformed contribution counts as
   * a failure of its sender.
   */
  #originIn(bytes: Uint8Array | null, sender: number): number {
    if (bytes === null) return -1
    const { processes } = this.#process.layout
    const origin =
      bytes.byteLength === 4 ? new DataView(bytes.buffer, bytes.byteOffset).getInt32(0, true) : processes
    if (origin >= -1 && origin < processes) return origin
    // Every process records the same error, the sender included.
    this.#errors.set(sender, impossible(sender, `a process below ${processes} or -1`))
    return sender
  }

  /** Makes the error of `origin` that of the world. */
  #choose(origin: number, origins: readonly number[]): void {
    const { process } = this.#process
    this.#chosen = origin
    if (origin === process && !this.#errors.has(process) && !this.#closed) {
      // Only this process knows that it has not failed, and all others wait for its error.
      const sender = origins.indexOf(process)
      this.#announce(impossible(sender, `no failure of process ${process}, which has none`))
    }
    this.#closeWhenHeard()
  }

  /** Returns the first loss of ranks that the survivors have not acknowledged. Every survivor finds the same one. */
  async #unsurvived(all: readonly number[], { lost }: Decision): Promise<number | undefined> {
    const { firstRank } = this.#process.layout
    const losses = lost.filter((process) => firstRank[process + 1] > firstRank[process])
    const survivors = all.filter((process) => !lost.includes(process))
    for (let from = 0; from < losses.length; from += lossesPerDecision) {
      const part = losses.slice(from, from + lossesPerDecision)
      const decision = await this.#authority.decide(`end ${from}`, survivors, this.#marksOf(part))
      const fatal = part.find((_, n) => {
        let marks = 0
        for (const bytes of decision.contributions)
          marks |= bytes === null ? 0 : bytes[n >> 2] >> (2 * (n & 3))
        return (marks & (bit.acknowledged | bit.ignored)) !== bit.acknowledged
      })
      if (fatal !== undefined) return fatal
    }
    return undefined
  }

  #marksOf(losses: readonly number[]): Uint8Array {
    const { acknowledgements } = this.#process
    const marks = new Uint8Array(Math.ceil(losses.length / 4))
    losses.forEach((process, n) => {
      const mark =
        (acknowledgements.has(process) ? bit.acknowledged : 0) |
        (acknowledgements.ignored(process) ? bit.ignored : 0)
      marks[n >> 2] |= mark << (2 * (n & 3))
    })
    return marks
  }

  #lossOf(process: number): RankweaveError {
    const lost = this.#process.lostPeer(process)
    const message = lost === undefined ? `process ${process} is lost` : lost.message
    const text = `${message}; the results of its ranks are lost with it`
    return new RankweaveError('ERR_PEER_LOST', text, { details: { process } })
  }

  /** Closes once the chosen error has arrived, or can no longer arrive. */
  #closeWhenHeard(): void {
    const chosen = this.#chosen
    if (chosen === undefined || this.#closed) return
    if (this.#errors.has(chosen)) {
      const error = this.#errors.get(chosen)
      this.#failure = { error, origin: chosen }
      this.#failHere(error)
    } else {
      if (this.#process.lostPeer(chosen) === undefined) return
      this.#failure ??= { error: this.#lossOf(chosen), origin: chosen }
      this.#failHere(this.#failure.error)
    }
    this.#close()
  }

  #close(): void {
    if (this.#closed) return
    this.#closed = true
    this.#handlers.close({ failed: this.failed, error: this.#failure?.error, without: this.#without })
  }
}

function impossible(sender: number, expected: string): RankweaveError {
  const message = `the end of the world: expected ${expected} from process ${sender}`
  return new RankweaveError('ERR_PROTOCOL', message, { details: { process: sender } })
}
