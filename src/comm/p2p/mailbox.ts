import { EntryList } from '../../matching/entry-list.js'
import type { RankCounters } from '../process/counters.js'
import type { CommContext } from '../table/comm-context.js'
import { type Arrived, type Receive, Sent } from './message.js'
import type { Matching } from './message-matching.js'

/** A communicator whose messages are matched here. */
export interface MessageContext extends CommContext {
  readonly matching: Matching
}

/**
 * One local rank of one communicator as matching sees it: the receives it has posted, the messages that came
 * before their receive, and the probes that wait for one. Made when the rank first takes part in a message.
 */
export class Mailbox {
  readonly state: MessageContext
  readonly rank: number
  readonly worldRank: number
  readonly counters: RankCounters
  /** Receives and matched probes without a message, in the order they were posted. */
  readonly posted = new EntryList<Receive<unknown>>('patterns')
  /** Messages without a receive, in the order they arrived. */
  readonly arrived = new EntryList<Arrived>('messages')
  /** Probes without a message. */
  readonly probes = new Set<Receive<unknown>>()

  #sent: Sent | undefined

  constructor(state: MessageContext, rank: number, worldRank: number) {
    this.state = state
    this.rank = rank
    this.worldRank = worldRank
    this.counters = state.runtime.rankCounters(worldRank)
  }

  /** A send that is done: what all sends have in common that were done at once. */
  get sent(): Sent {
    this.#sent ??= new Sent(this)
    return this.#sent
  }

  get name(): string {
    return `rank ${this.rank} (world ${this.worldRank})`
  }

  get communicatorName(): string {
    const { leader, counter } = this.state.id
    return `communicator ${leader}.${counter}`
  }

  block(hasSignal: boolean): void {
    const { runtime } = this.state
    runtime.waits.block(this.worldRank - runtime.firstRank, hasSignal)
  }

  unblock(hasSignal: boolean): void {
    const { runtime } = this.state
    runtime.waits.unblock(this.worldRank - runtime.firstRank, hasSignal)
  }
}

/** The mailboxes of one communicator in one process, by rank in the communicator. */
export class Mailboxes extends Map<number, Mailbox> {
  readonly #state: MessageContext

  constructor(state: MessageContext) {
    super()
    this.#state = state
  }

  add(rank: number, worldRank: number): Mailbox {
    const mailbox = new Mailbox(this.#state, rank, worldRank)
    this.set(rank, mailbox)
    return mailbox
  }
}
