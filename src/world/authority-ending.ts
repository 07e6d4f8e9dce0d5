import { smallestOf } from '../base/search.js'
import { RankweaveError } from '../errors.js'
import type { Authority, Decision, FabricSession } from '../fabric/fabric.js'
import { decodeError, encodeError } from '../messages/process/error-record.js'
import type { Acknowledgements } from '../messages/process/failures.js'
import type { FramePort } from '../messages/process/frame-port.js'
import { frameKind, headerWord } from '../messages/process/frames.js'
import { Ending, type EndingHandlers, type WorldEnding } from './ending.js'

/** A process that hosts ranks, as the end of the world sees it. */
export interface EndingProcess extends FramePort {
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

/** The word of a `worldEnd` frame that holds the process that failed. */
const originWord = 3

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
export class AuthorityEnding implements WorldEnding {
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
