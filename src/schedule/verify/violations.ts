/** The codes of all ways in which a schedule can be wrong. `docs/schedule-format.md` explains each. */
export const violationCodes = [
  'structure',
  'topology-differs',
  'send-unmatched',
  'receive-unmatched',
  'blocks-differ',
  'place-empty',
  'wrong-block',
  'wrong-part',
  'place-rewritten',
  'slot-missing',
  'slot-wrong',
  'slot-unordered',
  'unused-delivery',
  'deadlock',
] as const

export type ViolationCode = (typeof violationCodes)[number]

export interface Violation {
  readonly code: ViolationCode
  /** The rank at which it is found; 0 if it concerns the whole schedule. */
  readonly rank: number
  readonly phase?: number
  readonly message: string
}

export interface Verification {
  readonly ok: boolean
  /** The number of violations. */
  readonly count: number
  /** The first violations, in the order of the checks. */
  readonly violations: readonly Violation[]
  /** The parts that were not checked and why; empty for a whole schedule. */
  readonly unproven: readonly string[]
  /**
   * Whether every reduction combines its contributors in the demanded order, each once, so that the schedule serves
   * operations that are not commutative. True if there are no reductions, false if it is not proved.
   */
  readonly isOrdered: boolean
  /**
   * A hash of how contributors are associated, which does not depend on parts, segments, places, peers, tags and
   * phases. Two schedules of equal hash apply an operation to the same operands in the same order, up to one chance in
   * 2^64. So their results have the same bits. Null if there are no reductions, if two over the same ranks are
   * associated differently, and if it is not proved.
   */
  readonly association: string | null
}

/** The results of a verification besides violations, if there are none. */
type Proof = Partial<Pick<Verification, 'unproven' | 'isOrdered' | 'association'>>

/** Counts every violation and records the first ones. Messages are formatted only for those recorded. */
export class ViolationList {
  readonly #limit: number
  readonly #recorded: Violation[] = []
  #count = 0

  constructor(limit: number) {
    this.#limit = limit
  }

  get count(): number {
    return this.#count
  }

  add(code: ViolationCode, rank: number, phase: number | null, message: () => string): void {
    this.#count++
    if (this.#recorded.length >= this.#limit) return
    this.#recorded.push({ code, rank, ...(phase === null ? {} : { phase }), message: message() })
  }

  verification({ unproven = [], isOrdered = false, association = null }: Proof = {}): Verification {
    const ok = this.#count === 0
    return {
      ok,
      count: this.#count,
      violations: this.#recorded,
      unproven,
      isOrdered: ok && isOrdered,
      association: ok ? association : null,
    }
  }
}
