import { describeContext, localRanksText } from '../../calls/matching/call-report.js'
import { isRankweaveError, RankweaveError } from '../../errors.js'
import type { Authority, Decision } from '../../fabric/fabric.js'
import type { ContextId } from '../../messages/process/frames.js'
import { processOf, type WorldLayout } from '../../messages/process/world-layout.js'
import type { TableContext } from '../table/process-table.js'
import { type LocalRankTable, rankTable, worldRanksOf } from '../table/rank-table.js'
import { lostMembersError, mixedCallsError, repeatedNameError, returnedError } from './survivor-errors.js'
import { rowsCall, SurvivorRows } from './survivor-rows.js'

/** An agreement in progress: what the ranks of this process have passed, and the promise they share. */
interface Call<S> {
  readonly seq: number
  kind: SurvivorCall
  flag: number
  acknowledged: number
  readonly joined: number[]
  /** The world rank of a rank here that has returned without joining; -1: there is none. */
  returned: number
  isComplete: boolean
  readonly outcome: Promise<Outcome<S>>
  settle(outcome: Outcome<S>): void
  fail(error: unknown): void
}

/** The flag of `agree`, the new communicator of `shrink`. */
interface Outcome<S> {
  readonly flag: number
  readonly made: S | undefined
}

/**
 * Runs `agree` and `shrink` of one communicator in one process (User-Level Failure Mitigation, MPI Forum). The n-th
 * calls of all ranks belong together, whatever the state of the communicator, and the authority of the fabric decides
 * them. Calls of the ranks of a process become one contribution, once each has called or returned.
 *
 * The outcome is uniform: it is a function of the decision alone, and the decision is the same at every survivor. A
 * process whose contribution is impossible counts as lost, at all of them.
 */
export class Survival<S> {
  readonly #state: TableContext
  readonly #open: (id: ContextId, table: LocalRankTable) => S
  readonly #reserve: (id: ContextId) => boolean
  readonly #drawCounter: () => number
  readonly #rows: SurvivorRows
  /** The number of each rank's next call, by local index. */
  readonly #next: Int32Array
  readonly #calls = new Map<number, Call<S>>()

  /**
   * @param open makes the communicator of the survivors in this process
   * @param reserve reserves its name; false if this process has a communicator of that name
   */
  constructor(
    state: TableContext,
    drawCounter: () => number,
    open: (id: ContextId, table: LocalRankTable) => S,
    reserve: (id: ContextId) => boolean,
  ) {
    this.#state = state
    this.#reserve = reserve
    this.#drawCounter = drawCounter
    this.#open = open
    this.#rows = new SurvivorRows(state)
    this.#next = new Int32Array(state.localRanks.length)
  }

  /** The number of calls of each rank here, by local index. */
  get calls(): Int32Array {
    return this.#next
  }

  get open(): readonly { readonly seq: number; readonly kind: SurvivorCall }[] {
    return [...this.#calls.values()]
  }

  describeWaits(): string[] {
    const state = this.#state
    return this.open.map(({ seq, kind }) => {
      const indices = [...state.localRanks.keys()]
      const waiting = indices.filter((index) => this.#next[index] > seq)
      const missing = indices.filter((index) => this.#next[index] <= seq)
      const wait = `${localRanksText(state, waiting)} ${waiting.length > 1 ? 'wait' : 'waits'} in ${kind}() #${seq} of the survivors`
      const rest =
        missing.length === 0
          ? ''
          : `; ${localRanksText(state, missing)} ${missing.length > 1 ? 'have' : 'has'} not called it`
      return `${describeContext(state)}: ${wait}${rest}`
    })
  }

  async agree(localIndex: number, flag: number): Promise<number> {
    return (await this.#join('agree', localIndex, flag)).flag
  }

  async shrink(localIndex: number): Promise<S> {
    return (await this.#join('shrink', localIndex, -1)).made!
  }

  frame(src: number, header: Int32Array, payload: Uint8Array): void {
    // Rows follow the decision, to which this process has contributed. Later rows come from processes that are lost.
    if (this.#calls.has(rowsCall(header))) this.#rows.frame(src, header, payload)
  }

  peerLost(): void {
    this.#rows.check()
  }

  /** Fails all calls, because the world has ended here and no rank agrees from now on. */
  worldEnded(error: RankweaveError): void {
    for (const call of [...this.#calls.values()]) this.#settle(call, () => call.fail(error))
  }

  #join(kind: SurvivorCall, localIndex: number, flag: number): Promise<Outcome<S>> {
    const { runtime, losses } = this.#state
    const authority = runtime.fabric.authority!
    const seq = this.#next[localIndex]++
    const call = this.#calls.get(seq) ?? this.#newCall(seq, kind)
    if (call.kind !== kind) call.kind = 'mixed'
    call.flag &= flag
    call.acknowledged = Math.min(call.acknowledged, losses.acknowledged(localIndex))
    const hosted = this.#state.hostedIndex(localIndex)
    call.joined.push(hosted)
    runtime.waits.block(hosted, !authority.isHere)
    this.#runIfComplete(call)
    return call.outcome
  }

  /** Checks the calls when a rank hosted here has returned, since no rank waits for it any longer. */
  readonly #rankEnded = () => {
    for (const call of [...this.#calls.values()]) this.#runIfComplete(call)
  }

  #runIfComplete(call: Call<S>): void {
    const { runtime, localRanks } = this.#state
    const missing = localRanks.length - call.joined.length
    // The second condition avoids visiting every rank each time that one returns.
    if (call.isComplete || missing > runtime.waits.endedRanks) return
    for (let index = 0; missing > 0 && index < localRanks.length; index++) {
      if (this.#next[index] > call.seq) continue
      if (!runtime.waits.hasEnded(this.#state.hostedIndex(index))) return
      if (call.returned < 0) call.returned = this.#state.worldRank(index)
    }
    call.isComplete = true
    void this.#run(call, runtime.fabric.authority!)
  }

  #newCall(seq: number, kind: SurvivorCall): Call<S> {
    let settle!: Call<S>['settle']
    let fail!: Call<S>['fail']
    const outcome = new Promise<Outcome<S>>((resolve, reject) => {
      settle = resolve
      fail = reject
    })
    // Ranks that do not await it get no unhandled rejection.
    outcome.catch(() => {})
    const acknowledged = this.#state.losses.processes.length
    const begun = { joined: [], returned: -1, isComplete: false }
    const call: Call<S> = { seq, kind, flag: -1, acknowledged, ...begun, outcome, settle, fail }
    this.#state.runtime.waits.onEnded.add(this.#rankEnded)
    this.#calls.set(seq, call)
    return call
  }

  async #run(call: Call<S>, authority: Authority): Promise<void> {
    const { kind, flag, acknowledged, returned } = call
    try {
      const members = [...this.#state.processes.processes].sort((a, b) => a - b)
      const counter = kind === 'shrink' ? this.#drawCounter() : 0
      const rowsDigest = kind === 'shrink' && this.#hasRows ? this.#rows.ownDigest : ''
      const own = encodeContribution({ kind, flag, acknowledged, counter, returned, rowsDigest })
      const { layout } = this.#state.runtime
      const decision = decodeDecision(
        await authority.decide(this.#key(call), members, own),
        members,
        { layout, hasRows: this.#hasRows },
        (process, reason) => this.#blame(process, reason),
      )
      const outcome = await this.#outcome(call, authority, members, decision)
      this.#settle(call, () => call.settle(outcome))
    } catch (error) {
      this.#settle(call, () => call.fail(error))
    }
  }

  /** Whether processes commit to their rows before they send them, because they may run other programs. */
  get #hasRows(): boolean {
    return this.#state.wasDistributed && this.#state.runtime.fabric.blame !== undefined
  }

  #blame(process: number, reason: string): void {
    this.#state.runtime.fabric.blame?.(process, reason)
  }

  async #outcome(
    call: Call<S>,
    authority: Authority,
    members: readonly number[],
    { contributions, lost }: SurvivorDecision,
  ): Promise<Outcome<S>> {
    const { kind } = contributions.find((each) => each !== undefined)!
    if (kind === 'mixed' || contributions.some((each) => each !== undefined && each.kind !== kind))
      throw mixedCallsError(this.#state, call.seq)
    const absent = members.filter((process, at) => contributions[at] === undefined && !lost.includes(process))
    const returned = contributions.flatMap((each) =>
      each === undefined || each.returned < 0 ? [] : each.returned,
    )
    if (absent.length + returned.length > 0) throw returnedError(this.#state, kind, absent, returned)
    if (kind === 'shrink') {
      const made = await this.#shrunk(call, authority, members, new Set(lost), contributions)
      return { flag: 0, made }
    }
    const lostMembers = lost.filter((process) => members.includes(process))
    let flag = -1
    let acknowledged = lostMembers.length
    contributions.forEach((each, at) => {
      if (each === undefined) return
      flag &= each.flag
      if (!lost.includes(members[at])) acknowledged = Math.min(acknowledged, each.acknowledged)
    })
    if (acknowledged < lostMembers.length)
      throw lostMembersError(this.#state, lostMembers.slice(acknowledged), flag)
    return { flag, made: undefined }
  }

  async #shrunk(
    { seq, joined, ...call }: Call<S>,
    authority: Authority,
    members: readonly number[],
    lost: ReadonlySet<number>,
    contributions: readonly (SurvivorContribution | undefined)[],
  ): Promise<S> {
    const state = this.#state
    const { layout, acknowledgements } = state.runtime
    let gone = lost
    let worldRanks: Int32Array
    if (state.wasDistributed) {
      const living = members.filter((process) => !lost.has(process))
      const digests = new Map(
        living.map((process) => [process, contributions[members.indexOf(process)]!.rowsDigest] as const),
      )
      await this.#rows.exchange(seq, living, this.#hasRows ? digests : new Map())
      // A process that was lost meanwhile is left out everywhere; every contributor has the rows of all others.
      const key = `${this.#key({ seq, ...call })}.rows`
      const decision = await authority.decide(key, living, new Uint8Array(0))
      gone = new Set([...lost, ...decision.lost])
      worldRanks = this.#rows.take(
        seq,
        living.filter((process) => !gone.has(process)),
      )
    } else {
      worldRanks = worldRanksOf(state.wholeTable).filter((rank) => !lost.has(processOf(layout, rank)))
    }
    const leader = worldRanks[0]
    const namedBy = processOf(layout, leader)
    const { counter } = contributions[members.indexOf(namedBy)]!
    const id = { leader, counter }
    const living = members.filter((process) => !gone.has(process))
    if (!(await this.#isFreeForAll(id, `${this.#key({ seq, ...call })}.id`, authority, living, namedBy)))
      throw repeatedNameError(state, namedBy)
    for (const process of members) {
      if (gone.has(process)) for (const index of joined) acknowledgements.acknowledge(process, index)
    }
    return this.#open(id, rankTable(worldRanks))
  }

  /**
   * Tells whether no survivor has a communicator of this name. Asked only if the process that has named it may run
   * another program; the others draw a new name each time.
   */
  async #isFreeForAll(
    id: ContextId,
    key: string,
    authority: Authority,
    living: readonly number[],
    namedBy: number,
  ): Promise<boolean> {
    if (this.#state.runtime.fabric.blame === undefined) return true
    const { process } = this.#state.runtime
    const isFree = this.#reserve(id)
    if (!isFree) this.#blame(namedBy, repeatedNameError(this.#state, namedBy).message)
    const { contributions } = await authority.decide(key, living, Uint8Array.of(isFree ? 1 : 0))
    const refusing = living.filter((_, at) => contributions[at]?.length === 1 && contributions[at][0] === 0)
    // The process that has drawn the name knows that it is new. It blames one process at a time, because several would
    // weigh against their reporter.
    if (namedBy === process && refusing.length > 0)
      this.#blame(refusing[0], `process ${refusing[0]} has refused a name that is new`)
    return refusing.length === 0
  }

  #key({ seq }: Pick<Call<S>, 'seq'>): string {
    const { leader, counter } = this.#state.id
    return `survivors ${leader}.${counter} #${seq}`
  }

  /** Lets every rank here continue, once. */
  #settle(call: Call<S>, settle: () => void): void {
    if (this.#calls.get(call.seq) !== call) return
    this.#calls.delete(call.seq)
    this.#rows.forget(call.seq)
    if (this.#calls.size === 0) this.#state.runtime.waits.onEnded.delete(this.#rankEnded)
    const { waits, fabric } = this.#state.runtime
    for (const hosted of call.joined) waits.unblock(hosted, !fabric.authority!.isHere)
    settle()
  }
}

/** The contribution of the ranks of one process to a decision of a communicator's survivors. */
export interface SurvivorContribution {
  /** The call of the ranks; `mixed` when they called different things. */
  readonly kind: SurvivorCall
  readonly flag: number
  /** The number of losses of the communicator that each of them has acknowledged. */
  readonly acknowledged: number
  /** A context counter drawn here, for the communicator of the survivors; 0: there will be none. */
  readonly counter: number
  /** The world rank of a rank here that has returned without calling; -1: there is none. */
  readonly returned: number
  /** The SHA-256 of the rows that this process will send (`SurvivorRows`), in hexadecimal digits; '' for none. */
  readonly rowsDigest: string
}

type SurvivorCall = 'agree' | 'shrink' | 'mixed'

const kinds: readonly SurvivorCall[] = ['mixed', 'agree', 'shrink']

const wordsBytes = 20
const digestBytes = 32

export function encodeContribution(contribution: SurvivorContribution): Uint8Array {
  const { kind, flag, acknowledged, counter, returned, rowsDigest } = contribution
  const bytes = new Uint8Array(wordsBytes + rowsDigest.length / 2)
  const view = new DataView(bytes.buffer)
  const words = [kinds.indexOf(kind), flag, acknowledged, counter, returned]
  words.forEach((word, at) => void view.setInt32(4 * at, word, true))
  for (let at = wordsBytes; at < bytes.length; at++)
    bytes[at] = Number.parseInt(rowsDigest.slice(2 * (at - wordsBytes), 2 * (at - wordsBytes) + 2), 16)
  return bytes
}

/** The process that has contributed, and the context of its contribution. */
interface Contributor {
  readonly process: number
  readonly layout: Pick<WorldLayout, 'firstRank'>
  /** Whether processes that shrink add the digest of their rows. */
  readonly hasRows: boolean
}

/** @throws ERR_PROTOCOL, which names the process, for an impossible contribution */
export function decodeContribution(bytes: Uint8Array, contributor: Contributor): SurvivorContribution {
  const { process, layout, hasRows } = contributor
  const { firstRank } = layout
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const kind = bytes.length < 4 ? undefined : kinds[view.getInt32(0, true)]
  const expectedBytes = wordsBytes + (kind === 'shrink' && hasRows ? digestBytes : 0)
  const requireThat = (isSo: boolean, expected: string, got: number) => {
    if (isSo) return
    const message = `a contribution of process ${process}: expected ${expected}, got ${got}`
    throw new RankweaveError('ERR_PROTOCOL', message, { details: { process } })
  }
  requireThat(bytes.length === expectedBytes, `${expectedBytes} bytes`, bytes.length)
  requireThat(kind !== undefined, 'a call of survivors', view.getInt32(0, true))
  const acknowledged = view.getInt32(8, true)
  requireThat(acknowledged >= 0, 'a number of losses', acknowledged)
  const counter = view.getInt32(12, true)
  requireThat(kind === 'shrink' ? counter > 0 : counter === 0, `a counter of ${kind}`, counter)
  const returned = view.getInt32(16, true)
  const isOwn = returned >= firstRank[process] && returned < firstRank[process + 1]
  requireThat(returned === -1 || isOwn, 'a rank that it hosts or -1', returned)
  const digest = Array.from(bytes.subarray(wordsBytes), (byte) => byte.toString(16).padStart(2, '0'))
  return {
    ...{ kind: kind!, flag: view.getInt32(4, true), acknowledged, counter, returned },
    rowsDigest: digest.join(''),
  }
}

interface SurvivorDecision {
  /** The contributions in the order of the members; undefined for those that count as lost or have returned. */
  readonly contributions: readonly (SurvivorContribution | undefined)[]
  /** The processes that were lost before, and then those whose contributions are impossible. */
  readonly lost: readonly number[]
}

/**
 * Decodes a decision, with the same result at every survivor. A process whose contribution is impossible counts as
 * lost.
 *
 * @param blame called with each process whose contribution is impossible
 */
function decodeDecision(
  { contributions, lost }: Decision,
  members: readonly number[],
  of: Omit<Contributor, 'process'>,
  blame: (process: number, reason: string) => void,
): SurvivorDecision {
  const gone = new Set(lost)
  const decoded = contributions.map((bytes, at) => {
    const process = members[at]
    try {
      return bytes === null ? undefined : decodeContribution(bytes, { process, ...of })
    } catch (error) {
      if (!isRankweaveError(error, 'ERR_PROTOCOL')) throw error
      if (!gone.has(process)) blame(process, error.message)
      gone.add(process)
      return undefined
    }
  })
  return { contributions: decoded, lost: [...gone] }
}
