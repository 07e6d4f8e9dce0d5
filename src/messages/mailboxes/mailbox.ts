import { type RankweaveError, wrongValue } from '../../errors.js'
import type { ProcessFacts } from '../matching-queues/design.js'
import type { Entry, MatchingList } from '../matching-queues/entry-list.js'
import { EntryList } from '../matching-queues/entry-list.js'
import type { CallSites } from '../process/call-sites.js'
import {
  type CommContext,
  communicatorText,
  madeBy,
  matchingDesignOf,
  rankText,
} from '../process/comm-context.js'
import type { ProcessCounters, RankCounters } from '../process/counters.js'
import { contextKey } from '../process/frames.js'
import { defaultMailboxDesign, type MailboxDesign } from '../process/matching-options.js'
import type { MatchingWatch } from '../process/matching-traces.js'
import type { Arrived } from './arrived.js'
import { MatchingMeter } from './matching-meter.js'
import { type Receive, type Receiver, type Send, type Sender, Sent } from './pending-operation.js'

/**
 * Ends operations that have left the mailbox. It is all that a mailbox needs of the message matching of its
 * communicator.
 */
export interface Withdrawal {
  withdrawSend(send: Send, error: RankweaveError): void
  abandonReceive(receive: Receive<unknown>, error: RankweaveError): void
}

/**
 * A local rank of one communicator in message matching. It has the receives posted, the messages that arrived before
 * their receive, and the probes that wait for one. Made when the rank first takes part in a message.
 */
export class Mailbox implements Sender, Receiver {
  readonly rank: number
  readonly worldRank: number
  readonly counters: RankCounters
  readonly processCounters: ProcessCounters
  readonly callSites: CallSites | undefined
  /** The receives and matched probes without a message, in the order they were posted. */
  readonly posted: MatchingList<Receive<unknown>>
  /** The messages without a receive, in the order they arrived. */
  readonly arrived: MatchingList<Arrived>
  readonly probes = new Set<Receive<unknown>>()
  readonly meter: MatchingMeter | undefined
  readonly watch: MatchingWatch | undefined
  readonly #context: CommContext
  readonly #withdrawal: Withdrawal
  #sent: Sent | undefined

  constructor(context: CommContext, withdrawal: Withdrawal, rank: number, worldRank: number) {
    this.#context = context
    this.#withdrawal = withdrawal
    this.rank = rank
    this.worldRank = worldRank
    this.counters = context.runtime.rankCounters(worldRank)
    this.processCounters = context.runtime.processCounters
    this.callSites = context.runtime.callSites
    const design = usedMailboxDesign(matchingDesignOf(context, worldRank))
    const facts = { processes: context.size }
    const posted = mailboxList<Receive<unknown>>(design, 'patterns', facts)
    const arrived = mailboxList<Arrived>(design, 'messages', facts)
    const counts = context.runtime.options.matching?.count === true
    this.meter = counts ? new MatchingMeter(design, posted, arrived) : undefined
    this.watch = context.runtime.matchingTraces?.watch(contextKey(context.id), context.size, worldRank)
    this.posted = this.meter?.posted ?? posted
    this.arrived = this.meter?.unexpected ?? arrived
  }

  /** A single object for all sends that were complete when they were started. */
  get sent(): Sent {
    this.#sent ??= new Sent(this)
    return this.#sent
  }

  get name(): string {
    return rankText(this.rank, this.worldRank)
  }

  get communicatorName(): string {
    return communicatorText(this.#context)
  }

  get origin(): string {
    const origin = madeBy(this.#context)
    return origin === undefined ? '' : `; ${origin}`
  }

  block(hasSignal: boolean): void {
    const { runtime } = this.#context
    runtime.waits.block(this.worldRank - runtime.firstRank, hasSignal)
  }

  unblock(hasSignal: boolean): void {
    const { runtime } = this.#context
    runtime.waits.unblock(this.worldRank - runtime.firstRank, hasSignal)
  }

  poll(): void {
    this.#context.runtime.fabric.poll()
  }

  pollFor(operation: { readonly settled: boolean }): void {
    const { progress } = this.#context.runtime
    if (progress.mayPoll) progress.pollFor(operation)
  }

  withdrawSend(send: Send, error: RankweaveError): void {
    this.#withdrawal.withdrawSend(send, error)
  }

  abandonReceive(receive: Receive<unknown>, error: RankweaveError): void {
    this.#withdrawal.abandonReceive(receive, error)
  }

  withdrawReceive(receive: Receive<unknown>, error: RankweaveError): void {
    if (this.probes.delete(receive)) receive.reject(error)
    else if (receive.listed) {
      this.watch?.cancel(receive)
      this.posted.remove(receive)
      receive.reject(error)
    }
  }
}

/** The mailboxes of one communicator in one process, by rank in the communicator. */
export class Mailboxes extends Map<number, Mailbox> {
  readonly #context: CommContext
  readonly #withdrawal: Withdrawal

  constructor(context: CommContext, withdrawal: Withdrawal) {
    super()
    this.#context = context
    this.#withdrawal = withdrawal
  }

  add(rank: number, worldRank: number): Mailbox {
    const mailbox = new Mailbox(this.#context, this.#withdrawal, rank, worldRank)
    this.set(rank, mailbox)
    return mailbox
  }
}

/** The module with all designs but the default. */
type DesignModule = typeof import('./design-list.js')

let load: (() => Promise<DesignModule>) | undefined
let loaded: DesignModule | undefined

/** Sets how the designs are loaded when a world or a `dup` chooses one. Pages do not have them. */
export function loadMailboxDesignsBy(loader: () => Promise<DesignModule>): void {
  load ??= loader
}

/** Loads the designs, unless the chosen one is the default, or this is a page. */
export async function loadMailboxDesigns(design: MailboxDesign | undefined): Promise<void> {
  if (design !== undefined && design !== defaultMailboxDesign) loaded ??= await load?.()
}

/** @throws ERR_ARGUMENT for a design that a page does not have */
export function requireMailboxDesigns(where: string, design: MailboxDesign | undefined): void {
  if (load !== undefined || design === undefined || design === defaultMailboxDesign) return
  throw wrongValue('ERR_ARGUMENT', `${where}: expected design '${defaultMailboxDesign}' in a page`, design)
}

/** Returns the design that a mailbox gets: the requested one, or the default if designs are not loaded. */
export function usedMailboxDesign(design: MailboxDesign | undefined): MailboxDesign {
  return loaded === undefined || design === undefined ? defaultMailboxDesign : design
}

/**
 * Returns an empty queue of a mailbox.
 *
 * @param design from {@link usedMailboxDesign}
 */
function mailboxList<E extends Entry>(
  design: MailboxDesign,
  holds: 'patterns' | 'messages',
  facts: ProcessFacts,
): MatchingList<E> {
  return design === defaultMailboxDesign || loaded === undefined
    ? new EntryList<E>(holds)
    : new loaded.DesignList<E>(design, holds, facts)
}
