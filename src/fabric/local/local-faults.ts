import { isCount } from '../../base/known-options.js'
import { type OptionTable, valueOption } from '../../base/option.js'
import { checkOptions } from '../../base/option-table.js'
import { seededRandom } from '../../base/random.js'
import { type RankweaveError, wrongValue } from '../../errors.js'

/** The faults injected into a local world, for tests. Frames of a process to itself are not affected. */
export interface LocalFaults {
  /**
   * Loses frames: with a probability, or the `n`-th frame (0-based) from `src` to `dst` if the function returns true.
   */
  readonly lose?: number | ((src: number, dst: number, n: number) => boolean)
  /**
   * Delays frames by a number of turns of the fabric's task: at random up to that many, or as the function returns.
   * Frames of a pair stay in order, so one late frame delays those behind it.
   */
  readonly delay?: number | ((src: number, dst: number, n: number) => number)
  /** The processes that die once they have sent so many frames. */
  readonly kill?: readonly { readonly process: number; readonly afterFrames: number }[]
}

const isFunction = (value: unknown): boolean => typeof value === 'function'

const faultOptions: OptionTable<LocalFaults> = {
  lose: valueOption(
    'a probability from 0 to 1, or a function',
    (value) => isFunction(value) || (typeof value === 'number' && value >= 0 && value <= 1),
  ),
  delay: valueOption('turns, or a function', (value) => isFunction(value) || isCount(value)),
  kill: valueOption('a list', Array.isArray),
}

/** @throws ERR_ARGUMENT for faults that are malformed or name a process that does not exist */
export function checkFaults(faults: LocalFaults, processes: number): void {
  checkOptions('local: faults', faultOptions, faults)
  for (const { process, afterFrames } of faults.kill ?? []) {
    if (!isCount(process) || process >= processes)
      throw refused(`to kill one of ${processes} processes`, process)
    if (!isCount(afterFrames)) throw refused('afterFrames as an integer', afterFrames)
  }
}

function refused(expected: string, got: unknown): RankweaveError {
  return wrongValue('ERR_ARGUMENT', `local: faults: expected ${expected}`, got)
}

/** The faults of one session, with a separate random sequence and the counts they depend on. */
export class FaultPlan {
  readonly #lose: (src: number, dst: number, n: number) => boolean
  readonly #delay: (src: number, dst: number, n: number) => number
  readonly #deathAfter: ReadonlyMap<number, number>
  readonly #sentByPair = new Map<number, number>()
  readonly #processes: number

  constructor(faults: LocalFaults, processes: number, seed: number) {
    const random = seededRandom(seed ^ 0x5bd1e995)
    const { lose = 0, delay = 0 } = faults
    this.#processes = processes
    this.#lose = typeof lose === 'number' ? () => random() < lose : lose
    this.#delay = typeof delay === 'number' ? () => Math.floor(random() * (delay + 1)) : delay
    this.#deathAfter = new Map(faults.kill?.map(({ process, afterFrames }) => [process, afterFrames]))
  }

  /** Returns the fate of the next frame of a pair: lost, or delayed by a number of turns. */
  next(src: number, dst: number): { readonly lost: boolean; readonly delayTurns: number } {
    if (src === dst) return { lost: false, delayTurns: 0 }
    const pair = src * this.#processes + dst
    const n = this.#sentByPair.get(pair) ?? 0
    this.#sentByPair.set(pair, n + 1)
    return this.#lose(src, dst, n)
      ? { lost: true, delayTurns: 0 }
      : { lost: false, delayTurns: this.#delay(src, dst, n) }
  }

  /** Returns true when `process` dies now that it has sent `framesSent` frames. */
  kills(process: number, framesSent: number): boolean {
    const limit = this.#deathAfter.get(process)
    return limit !== undefined && framesSent >= limit
  }
}
