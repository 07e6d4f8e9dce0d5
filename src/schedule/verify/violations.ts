/** Every way in which a schedule can be wrong. `docs/schedule-format.md` explains each. */
export const violationCodes = [
  'structure',
  'topology-differs',
  'send-unmatched',
  'receive-unmatched',
  'blocks-differ',
  'place-empty',
  'wrong-block',
  'place-rewritten',
  'slot-missing',
  'slot-wrong',
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
  /** Number of violations. */
  readonly count: number
  /** The first of them, in the order of the checks. */
  readonly violations: readonly Violation[]
  /** What was not checked and why; empty for a whole schedule. */
  readonly unproven: readonly string[]
}

/** Counts every violation and records the first ones: messages are only formatted for those recorded. */
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

  verification(unproven: readonly string[] = []): Verification {
    return { ok: this.#count === 0, count: this.#count, violations: this.#recorded, unproven }
  }
}
