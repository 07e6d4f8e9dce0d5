import { smallestOf } from '../base/search.js'
import { RankweaveError } from '../errors.js'
import type { Authority, Decision, FabricSession } from '../fabric/fabric.js'
import type { Acknowledgements } from '../messages/process/acknowledgements.js'
import { decodeError, encodeError } from '../messages/process/error-record.js'
import type { FramePort } from '../messages/process/frame-port.js'
import { frameKind, headerWord } from '../messages/process/frames.js'
import { Ending, type EndingHandlers, type WorldEnding } from './ending.js'

/** The process that hosts ranks, as the end of the world sees it. */
export interface EndingProcess extends FramePort {
  readonly acknowledgements: Acknowledgements
}

/** How a session takes part in the end of its world. */
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

/** Word 3 of a `worldEnd` frame: the process that failed. */
const originWord = 3

/** Losses of which one contribution tells: two bits each. */
const lossesPerDecision = 256
const bit = { acknowledged: 1, ignored: 2 } as const

/**
 * The end of a world whose fabric has an authority on failures: no process is needed for it, so each can be
 * lost. Every process contributes to one decision when its ranks have returned or failed; processes that are
 * lost before do not. A process that fails tells all others at once, so that their ranks need not wait.
 *
 * A loss is survived when some rank that lives has acknowledged it, and none has returned in spite of knowing
 * it; else the world fails with ERR_PEER_LOST. That is a second decision, made only after losses. It concerns
 * ranks that had returned too: what they returned may not have left their process.
 */
export class AuthorityEnding implements WorldEnding {
  readonly #process: EndingProcess
  readonly #authority: Authority
  readonly #handlers: EndingHandlers
  /** The failure of the lowest process that is known to have failed: the one that the decision names. */
  #failure: { readonly error: unknown; readonly origin: number } | undefined
  /**
   * First error of every process that is known to have failed: one that fails after it has contributed is not
   * chosen.
   */
  readonly #errors = new Map<number, unknown>()
  /** The process whose error is that of the world, once decided. */
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

  /** It is the only one here, so `done` follows. */
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

  /** This process has failed: tells all others. */
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
   * Whose failure a process knows of; -1: of no process. What no process of ours contributes is a failure of
   * its sender.
   */
  #originIn(bytes: Uint8Array | null, sender: number): number {
    if (bytes === null) return -1
    const { processes } = this.#process.layout
    const origin =
      bytes.byteLength === 4 ? new DataView(bytes.buffer, bytes.byteOffset).getInt32(0, true) : processes
    if (origin >= -1 && origin < processes) return origin
    // The same at every process, the sender included.
    this.#errors.set(sender, impossible(sender, `a process below ${processes} or -1`))
    return sender
  }

  /** The error of the world is that of `origin`. */
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

  /** The first loss of ranks that the survivors have not acknowledged; the same at each of them. */
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

  /** Closes once the error that was decided on is here, or can no longer come. */
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
