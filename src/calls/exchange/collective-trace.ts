import type { CommContext } from '../../messages/process/comm-context.js'
import { collectiveWord, contextKey, totalOf } from '../../messages/process/frames.js'
import type { MatchingWatch } from '../../messages/process/matching-traces.js'
import { collectives } from '../../schedule/specification.js'
import { nameInWords } from '../signature.js'

/**
 * Records the messages that this process receives in collectives of one communicator, as an MPI library would match
 * them. It records them at the lowest rank here, from the lowest rank of the sender, tagged by the step of the
 * algorithm. Calls that make communicators, plans and the like are left out.
 */
export class CollectiveTrace {
  readonly #watch: MatchingWatch
  /** The lowest rank of every process. */
  readonly #firstRank: Int32Array

  /** Undefined if the world does not record them, or if it is not known which ranks a process hosts. */
  static of(state: CommContext): CollectiveTrace | undefined {
    const traces = state.runtime.matchingTraces
    if (traces?.hasCollectives !== true || !state.isPlaced) return undefined
    return new CollectiveTrace(traces.watch(contextKey(state.id), state.size, state.worldRank(0)), state)
  }

  private constructor(watch: MatchingWatch, { processes }: CommContext) {
    const { runStart, runProcess, count } = processes
    this.#watch = watch
    this.#firstRank = new Int32Array(count)
    for (let run = runProcess.length - 1; run >= 0; run--) this.#firstRank[runProcess[run]] = runStart[run]
  }

  /** A receive starts. @param header of the collective's own frames, with its signature */
  post(header: Int32Array, peer: number, step: number): void {
    const of = recordedCall(header)
    if (of !== undefined) this.#watch.postInCall(this.#firstRank[peer], step, of)
  }

  /** A message arrives, perhaps before any rank here has made the call. @param header of its first frame */
  arrive(header: Int32Array, peer: number): void {
    const of = recordedCall(header)
    if (of === undefined) return
    this.#watch.arrive(this.#firstRank[peer], header[collectiveWord.step], totalOf(header), of)
  }
}

/** Reads which call a frame is part of. Numbers of calls differ between lanes. */
function recordedCall(header: Int32Array) {
  const lane = header[collectiveWord.lane]
  const name: string = nameInWords(header, collectiveWord.signature) ?? ''
  // The starts of a persistent collective have a lane of their own, and the name of its init.
  const plain = (lane === 0 ? name : name.replace(/Init$/, '')).replace(/[vw]$/, '')
  const kebab = plain.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
  const collective = collectives.find((one) => one === kebab)
  const call = (65_537 * lane + header[collectiveWord.seq]) >>> 0
  return collective === undefined ? undefined : { collective, call }
}
