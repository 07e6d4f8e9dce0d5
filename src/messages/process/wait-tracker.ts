/**
 * Tracks which ranks are blocked, with one counter per hosted rank. Testing "every rank is blocked or has finished"
 * costs O(1), and a wait of a hundred thousand ranks costs a hundred thousand small integers. Only waits count
 * (`await recv`, `request.wait`, a collective), not requests that no rank waits for.
 *
 * If one hosted program drives all ranks ({@link share}), they are one flow of control: any wait blocks all of them,
 * until none is left.
 */
export class WaitTracker {
  /** Notified of the few changes that matter to others; at most one listener, because this is a hot path. */
  listener: WaitListener | undefined
  /** Called with the hosted index of every rank whose `main` has returned. */
  readonly onEnded = new Set<(index: number) => void>()
  readonly #ranks: number
  readonly #depth: Uint32Array
  readonly #ended: Uint8Array
  #endedRanks = 0
  /** The flows of control that neither wait nor have finished: one of each rank, or one of all of them. */
  #awake: number
  #isShared = false
  #withSignal = 0
  #waits = 0
  #changes = 0

  /** Makes a tracker of `ranks` hosted ranks, all awake. */
  constructor(ranks: number) {
    this.#ranks = ranks
    this.#depth = new Uint32Array(ranks)
    this.#ended = new Uint8Array(ranks)
    this.#awake = ranks
  }

  /** Lets one program drive all ranks. Called before any of them waits. */
  share(): void {
    this.#isShared = true
    this.#awake = Math.min(1, this.#ranks)
  }

  /** Whether one program drives all ranks, so that one wait stands for those of all of them. */
  get isShared(): boolean {
    return this.#isShared
  }

  /** The flows of control that neither have finished nor wait: ranks, or the program that drives all of them. */
  get awake(): number {
    return this.#awake
  }

  get awakeRanks(): number {
    if (!this.#isShared) return this.#awake
    return this.#awake === 0 ? 0 : this.#ranks - this.#endedRanks
  }

  /** The pending waits that carry an AbortSignal, so that the world may be woken from outside. */
  get withSignal(): number {
    return this.#withSignal
  }

  /** The hosted ranks whose `main` has returned. */
  get endedRanks(): number {
    return this.#endedRanks
  }

  get waits(): number {
    return this.#waits
  }

  /**
   * The waits begun and ranks finished so far, modulo 2^32. Two checks that find every rank blocked find another number
   * if one has continued in between.
   */
  get changes(): number {
    return this.#changes
  }

  /** @param index hosted index: world rank minus the first world rank of this process */
  block(index: number, hasSignal: boolean): void {
    this.#changes = (this.#changes + 1) | 0
    if (this.#waits++ === 0) this.listener?.waiting()
    if (hasSignal) this.#withSignal++
    if (this.#isShared) {
      if (this.#waits === 1 && this.#endedRanks === 0) this.#fallAsleep()
    } else if (this.#depth[index]++ === 0 && this.#ended[index] === 0) this.#fallAsleep()
  }

  /** Undoes one `block` with the same arguments. */
  unblock(index: number, hasSignal: boolean): void {
    if (--this.#waits === 0) this.listener?.idle()
    if (hasSignal) this.#withSignal--
    if (this.#isShared) {
      if (this.#waits === 0 && this.#endedRanks === 0) this.#awake++
    } else if (--this.#depth[index] === 0 && this.#ended[index] === 0) this.#awake++
  }

  /**
   * Notes that the rank's `main` has returned; operations it left pending no longer matter. Ranks that share a program
   * end one after the other in one stretch.
   */
  end(index: number): void {
    if (this.#ended[index] === 1) return
    const wasAwake = this.#isShared ? this.#endedRanks === 0 && this.#waits === 0 : this.#depth[index] === 0
    this.#ended[index] = 1
    this.#changes = (this.#changes + 1) | 0
    this.#endedRanks++
    for (const tell of this.onEnded) tell(index)
    if (wasAwake) this.#fallAsleep()
  }

  /** Tells whether the rank is in a wait, whether its `main` has returned or not. */
  isBlocked(index: number): boolean {
    return this.#isShared ? this.#waits > 0 : this.#depth[index] > 0
  }

  hasEnded(index: number): boolean {
    return this.#ended[index] === 1
  }

  #fallAsleep(): void {
    if (--this.#awake === 0) this.listener?.allAsleep()
  }
}

export interface WaitListener {
  /** Called when the first wait has begun: the event loop must stay alive. */
  waiting(): void
  idle(): void
  allAsleep(): void
}
