import { laterTurn } from '../base/turn.js'
import { RankweaveError } from '../errors.js'
import { type Authority, concernsEnd, type Decision, maxContributionBytes, maxKeyLength } from './fabric.js'

/** The most open decisions to which a process may have contributed. */
export const maxOpenDecisions = 1024

interface OpenDecision {
  readonly key: string
  readonly members: readonly number[]
  readonly contributions: (Uint8Array | null)[]
  /** The members that it waits for. */
  readonly awaited: Set<number>
}

/**
 * The state of an authority: the lost processes in order, and the open decisions. It is the same for every fabric;
 * contributions and decisions travel as the fabric likes.
 *
 * A decision is forgotten when it is made: each member has contributed, is lost or has contributed to the end of the
 * world, so no process can ask for it again.
 *
 * The members belong to the name of a decision. A process that names other members than the rest waits alone, and the
 * rest wait for it as for one that does not contribute.
 *
 * Memory: the losses, the processes at the end, and at most {@link maxOpenDecisions} decisions per process.
 */
export class Decisions {
  readonly #processes: number
  readonly #decided: (process: number, key: string, decision: Decision) => void
  readonly #lost = new Set<number>()
  /** The processes that have contributed to the end of the world. */
  readonly #atEnd = new Set<number>()
  /** The open decisions by {@link nameOf}. */
  readonly #open = new Map<string, OpenDecision>()
  readonly #openOf: Int32Array

  /**
   * @param decided called for every contributor that survives, in the order of members, when a decision is
   *   made
   */
  constructor(processes: number, decided: (process: number, key: string, decision: Decision) => void) {
    this.#processes = processes
    this.#decided = decided
    this.#openOf = new Int32Array(processes)
  }

  /** The lost processes, in the order of {@link lose}. */
  get lost(): readonly number[] {
    return [...this.#lost]
  }

  /**
   * Adds a contribution of a process. A process that is lost is ignored, and so is a new decision after its end of the
   * world.
   *
   * @param contribution retained
   * @throws ERR_FABRIC for contributions that a correct process does not send. They are too long or repeated; their
   *   members do not ascend, do not contain the process or, at the end of the world, are not all processes; or too many
   *   decisions are open
   */
  contribute(process: number, key: string, members: readonly number[], contribution: Uint8Array): void {
    if (this.#lost.has(process)) return
    const name = nameOf(key, members)
    const isNew = !this.#open.has(name)
    if (isNew && this.#atEnd.has(process) && !concernsEnd(key)) return
    const open = this.#open.get(name) ?? this.#opened(key, members)
    if (contribution.byteLength > maxContributionBytes) {
      throw refused(
        key,
        `a contribution of at most ${maxContributionBytes} bytes, got ${contribution.byteLength}`,
      )
    }
    const at = open.members.indexOf(process)
    if (at < 0) throw refused(key, `a member, got process ${process}`)
    if (key === 'end' && members.length < this.#processes)
      throw refused(key, `all processes as members, got ${members.length} from process ${process}`)
    if (open.contributions[at] !== null) throw refused(key, `one contribution of process ${process}`)
    if (this.#openOf[process] >= maxOpenDecisions)
      throw refused(key, `at most ${maxOpenDecisions} open decisions of process ${process}`)
    this.#open.set(name, open)
    this.#openOf[process]++
    open.contributions[at] = contribution
    open.awaited.delete(process)
    if (open.awaited.size === 0) this.#decide(name, open)
    if (concernsEnd(key)) this.#reachedEnd(process)
  }

  #reachedEnd(process: number): void {
    if (this.#atEnd.has(process)) return
    this.#atEnd.add(process)
    this.#expectNothing(process, (key) => !concernsEnd(key))
  }

  #expectNothing(process: number, of: (key: string) => boolean): void {
    for (const [name, open] of [...this.#open]) {
      if (of(open.key) && open.awaited.delete(process) && open.awaited.size === 0) this.#decide(name, open)
    }
  }

  /** Marks a process as lost; false if it was already. Decisions that awaited no other process are made. */
  lose(process: number): boolean {
    if (this.#lost.has(process)) return false
    this.#lost.add(process)
    this.#expectNothing(process, () => true)
    return true
  }

  #opened(key: string, members: readonly number[]): OpenDecision {
    if (key.length > maxKeyLength)
      throw refused(key.slice(0, 16), `a key of at most ${maxKeyLength} characters`)
    let last = -1
    for (const member of members) {
      if (!Number.isSafeInteger(member) || member <= last || member >= this.#processes)
        throw refused(key, `ascending members below ${this.#processes}, got ${member} after ${last}`)
      last = member
    }
    return {
      key,
      members: [...members],
      contributions: members.map(() => null),
      awaited: new Set(
        members.filter((member) => !this.#lost.has(member) && (concernsEnd(key) || !this.#atEnd.has(member))),
      ),
    }
  }

  #decide(name: string, { key, members, contributions }: OpenDecision): void {
    this.#open.delete(name)
    const decision: Decision = { contributions, lost: this.lost }
    const contributors = members.filter((_, at) => contributions[at] !== null)
    for (const member of contributors) this.#openOf[member]--
    for (const member of contributors) if (!this.#lost.has(member)) this.#decided(member, key, decision)
  }
}

function nameOf(key: string, members: readonly number[]): string {
  return `${members.join()} ${key}`
}

function refused(key: string, expected: string): RankweaveError {
  return new RankweaveError('ERR_FABRIC', `decision '${key}': expected ${expected}`)
}

/**
 * Returns an authority whose decisions arrive after the losses that they report. A fabric reports a loss in a separate
 * task, once it has read what the lost process sent, so a later decision may arrive earlier.
 *
 * @param areReported whether the sink has been told of every loss that this process has heard of
 */
export function afterLosses(authority: Authority, areReported: () => boolean): Authority {
  return {
    isHere: authority.isHere,
    decide: async (key, members, contribution) => {
      const decision = await authority.decide(key, members, contribution)
      while (!areReported()) await laterTurn()
      return decision
    },
  }
}

interface Waiting {
  resolve(decision: Decision): void
  reject(error: RankweaveError): void
}

/** The side of one process of an authority elsewhere: its contributions without a decision. */
export class RemoteAuthority implements Authority {
  readonly isHere = false
  readonly #send: (key: string, members: readonly number[], contribution: Uint8Array) => void
  readonly #waiting = new Map<string, Waiting>()
  #failed: RankweaveError | undefined

  /** @param send takes a contribution to the authority; reads it before it returns */
  constructor(send: (key: string, members: readonly number[], contribution: Uint8Array) => void) {
    this.#send = send
  }

  decide(key: string, members: readonly number[], contribution: Uint8Array): Promise<Decision> {
    if (this.#failed !== undefined) return Promise.reject(this.#failed)
    if (this.#waiting.has(key) || key.length > maxKeyLength || contribution.length > maxContributionBytes) {
      const message =
        `decide: expected a new key of at most ${maxKeyLength} characters and at most ${maxContributionBytes} bytes, ` +
        `got '${key.slice(0, maxKeyLength)}' and ${contribution.length} bytes`
      return Promise.reject(new RankweaveError('ERR_FABRIC', message))
    }
    return new Promise((resolve, reject) => {
      this.#waiting.set(key, { resolve, reject })
      this.#send(key, members, contribution)
    })
  }

  /** Takes a decision of the authority; a decision that no process here waits for has no effect. */
  decided(key: string, decision: Decision): void {
    const waiting = this.#waiting.get(key)
    this.#waiting.delete(key)
    waiting?.resolve(decision)
  }

  /**
   * Fails all waits because no decision will come: the session is closed (ERR_FABRIC), this process or the authority is
   * lost.
   */
  fail(error: RankweaveError): void {
    this.#failed ??= error
    const waiting = [...this.#waiting.values()]
    this.#waiting.clear()
    for (const { reject } of waiting) reject(error)
  }
}
