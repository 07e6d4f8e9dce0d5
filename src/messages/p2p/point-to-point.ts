import { abortedError, requireWaitOptions, type WaitOptions } from '../../base/abort.js'
import { type OptionTable, uncheckedOptions } from '../../base/option.js'
import { laterTurn, promiseTry } from '../../base/turn.js'
import { type RankweaveError, wrongValue } from '../../errors.js'
import type { CheckedBuffer } from '../datatype/checked-buffers.js'
import { payloadOf } from '../datatype/payload.js'
import type { ReceiveBuffer } from '../datatype/strided-view.js'
import { type Message, type RecvOptions, recvOptions, type Status } from '../mailboxes/arrived.js'
import { ANY_SOURCE, ANY_TAG, maxTag, PROC_NULL } from '../mailboxes/envelope.js'
import type { Mailbox } from '../mailboxes/mailbox.js'
import { Receive, type ReceiveKind, Send } from '../mailboxes/pending-operation.js'
import { doneInTurn, resolvedInTurn } from '../process/progress.js'
import { MatchedMessage, MatchedProbe, nothingFrom } from './matched-message.js'
import type { Matching } from './message-matching.js'
import { Request } from './request.js'

// These functions implement the point-to-point methods of `Communicator`, where they are documented. Functions that
// return a promise reject on bad arguments; those that return a request throw, because nothing was started.

/** A rank's handle on a communicator, as sends and receives see it. */
export interface Endpoint {
  readonly size: number
  readonly matching: Matching
  /** Returns the mailbox of the rank; throws once the communicator cannot be used. */
  mailbox(): Mailbox
}

/**
 * The tags of the two messages of a `sendrecv`. Default: 0 for the one that is sent, any for the one that is received.
 */
export interface SendrecvTags {
  readonly sendTag?: number
  readonly recvTag?: number
}

const sendrecvOptions: OptionTable<SendrecvTags & RecvOptions> = {
  ...recvOptions,
  ...uncheckedOptions('sendTag', 'recvTag'),
}

/** The mode of a send. `synchronous`: completes only when a receive has matched. */
export type SendMode = 'standard' | 'synchronous'

export function send(
  comm: Endpoint,
  data: unknown,
  dest: number,
  tag: number,
  mode: SendMode,
  options?: WaitOptions,
): Promise<void> {
  try {
    if (mode === 'standard' && options === undefined && sendShort(comm, data, dest, tag)) return doneInTurn()
    return startSend(comm, data, dest, tag, mode, options).wait()
  } catch (error) {
    return Promise.reject(error)
  }
}

export function isend(
  comm: Endpoint,
  data: unknown,
  dest: number,
  tag: number,
  mode: SendMode,
  options?: WaitOptions,
): Request<void> {
  if (mode === 'standard' && options === undefined && sendShort(comm, data, dest, tag))
    return new Request(comm.mailbox().sent)
  return new Request(startSend(comm, data, dest, tag, mode, options))
}

export function recv(comm: Endpoint, source: number, tag: number, options?: RecvOptions): Promise<Message> {
  try {
    const mailbox = comm.mailbox()
    requireReceive(comm, source, tag)
    requireRecvOptions(options)
    return receiveSoon(comm.matching, mailbox, source, tag, options, landingOf(comm, options))
  } catch (error) {
    return Promise.reject(error)
  }
}

/** Polls for the message before it waits. The arguments have been checked. */
function receiveSoon(
  matching: Matching,
  mailbox: Mailbox,
  source: number,
  tag: number,
  options: RecvOptions | undefined,
  landing: CheckedBuffer | undefined,
): Promise<Message> {
  if (source !== PROC_NULL && options?.signal === undefined) {
    const found = matching.short.seek(mailbox, source, tag, options?.into, landing)
    if (found instanceof Receive) return found.wait()
    if (found !== undefined) return resolvedInTurn(found)
  }
  return startReceive<Message>(mailbox, matching, 'recv', source, tag, options, landing).wait()
}

/** Checks `into`; returns its bytes if messages can be copied straight into them. */
function landingOf({ matching }: Endpoint, options: RecvOptions | undefined): CheckedBuffer | undefined {
  const into = options?.into
  return into === undefined ? undefined : matching.short.landing(into)
}

export function irecv(comm: Endpoint, source: number, tag: number, options?: RecvOptions): Request<Message> {
  const mailbox = comm.mailbox()
  requireReceive(comm, source, tag)
  requireRecvOptions(options)
  const landing = landingOf(comm, options)
  return new Request(startReceive<Message>(mailbox, comm.matching, 'recv', source, tag, options, landing))
}

export function sendrecv(
  comm: Endpoint,
  data: unknown,
  dest: number,
  source: number,
  options: SendrecvTags & RecvOptions,
): Promise<Message> {
  try {
    requireWaitOptions('sendrecv', options, sendrecvOptions)
    const { sendTag = 0, recvTag = ANY_TAG, signal } = options
    requireReceive(comm, source, recvTag)
    const landing = landingOf(comm, options)
    if (signal === undefined && sendShort(comm, data, dest, sendTag))
      return receiveSoon(comm.matching, comm.mailbox(), source, recvTag, options, landing)
    const sending = startSend(comm, data, dest, sendTag, 'standard', signal && { signal })
    const mailbox = comm.mailbox()
    return bothOf(
      sending,
      startReceive<Message>(mailbox, comm.matching, 'recv', source, recvTag, options, landing),
    )
  } catch (error) {
    return Promise.reject(error)
  }
}

/** Settles when both have, so that neither buffer is still in use; the first error wins. */
async function bothOf(sending: Send, receive: Receive<Message>): Promise<Message> {
  const [sent, received] = await Promise.allSettled([sending.wait(), receive.wait()])
  if (received.status === 'rejected') throw received.reason
  if (sent.status === 'rejected') throw sent.reason
  return received.value
}

export function probe(comm: Endpoint, source: number, tag: number, options?: WaitOptions): Promise<Status> {
  return promiseTry(() => probing<Status>(comm, 'probe', source, tag, options).wait())
}

export function mprobe(
  comm: Endpoint,
  source: number,
  tag: number,
  options?: WaitOptions,
): Promise<MatchedMessage> {
  return promiseTry(() => probing<MatchedMessage>(comm, 'mprobe', source, tag, options).wait())
}

export function iprobe(comm: Endpoint, source: number, tag: number): Promise<Status | null> {
  return poll(comm, source, tag, (mailbox) => {
    if (source === PROC_NULL) return statusOf(nothingFrom(undefined))
    return comm.matching.peek(mailbox, source, tag)
  })
}

export function improbe(comm: Endpoint, source: number, tag: number): Promise<MatchedMessage | null> {
  return poll(comm, source, tag, (mailbox) => {
    const { matching } = comm
    const message = source === PROC_NULL ? null : matching.extract(mailbox, source, tag)
    return message === undefined ? undefined : new MatchedMessage(mailbox, matching, message)
  })
}

/** Tries, delivers frames and tries again, lets timers and I/O run and tries a last time. */
async function poll<T>(
  comm: Endpoint,
  source: number,
  tag: number,
  find: (mailbox: Mailbox) => T | undefined,
): Promise<T | null> {
  requireReceive(comm, source, tag)
  const found = find(comm.mailbox())
  if (found !== undefined) return resolvedInTurn(found)
  comm.mailbox().poll()
  const arrived = find(comm.mailbox())
  if (arrived !== undefined) return resolvedInTurn(arrived)
  await laterTurn()
  return find(comm.mailbox()) ?? null
}

/** Sends data that leave before the call returns; returns false, with nothing done, for everything else. */
function sendShort(comm: Endpoint, data: unknown, dest: number, tag: number): boolean {
  const mailbox = comm.mailbox()
  requireSend(comm, dest, tag)
  return dest !== PROC_NULL && comm.matching.short.send(mailbox, data, dest, tag)
}

function startSend(
  comm: Endpoint,
  data: unknown,
  dest: number,
  tag: number,
  mode: SendMode,
  options: WaitOptions | undefined,
): Send {
  const mailbox = comm.mailbox()
  requireSend(comm, dest, tag)
  const synchronous = mode === 'synchronous'
  const name = synchronous ? 'ssend' : 'send'
  requireWaitOptions(name, options)
  const signal = options?.signal
  const started = new Send(mailbox, payloadOf(data, name), dest, tag, synchronous)
  if (signal?.aborted) throw abortedError(started.call, signal)
  if (dest === PROC_NULL) {
    started.fulfill()
    return started
  }
  comm.matching.send(started)
  if (signal !== undefined) started.cancelOn(signal)
  return started
}

function probing<T>(
  comm: Endpoint,
  kind: 'probe' | 'mprobe',
  source: number,
  tag: number,
  options: WaitOptions | undefined,
): Receive<T> {
  const mailbox = comm.mailbox()
  requireReceive(comm, source, tag)
  requireWaitOptions(kind, options)
  return startReceive(mailbox, comm.matching, kind, source, tag, options)
}

function startReceive<T>(
  mailbox: Mailbox,
  matching: Matching,
  kind: ReceiveKind,
  source: number,
  tag: number,
  options: RecvOptions | undefined,
  landing?: CheckedBuffer,
): Receive<T> {
  const into: ReceiveBuffer | undefined = options?.into
  const signal = options?.signal
  const started: Receive<T> =
    kind === 'mprobe'
      ? (new MatchedProbe(mailbox, matching, source, tag) as Receive<unknown> as Receive<T>)
      : new Receive<T>(mailbox, kind, source, tag, into, landing)
  if (signal?.aborted) throw abortedError(started.call, signal)
  if (source === PROC_NULL) {
    const nothing = nothingFrom(into)
    started.fulfill((kind === 'mprobe' ? null : kind === 'probe' ? statusOf(nothing) : nothing) as T)
    return started
  }
  matching.receive(mailbox, started)
  if (signal !== undefined) started.cancelOn(signal)
  return started
}

function requireSend(comm: Endpoint, dest: number, tag: number): void {
  if (dest !== PROC_NULL && !isRank(dest, comm.size)) throw badRank('dest', dest, comm.size)
  if (!isTag(tag)) throw badTag(tag, `a tag from 0 to ${maxTag}`)
}

/** Checks common options quickly, because the general check takes as long as a message. */
function requireRecvOptions(options: RecvOptions | undefined): void {
  if (options === undefined) return
  if (typeof options === 'object' && options !== null && !Array.isArray(options) && hasOnly(options)) {
    if (options.signal === undefined) return
  }
  requireWaitOptions('recv', options, recvOptions)
}

function hasOnly(options: RecvOptions): boolean {
  for (const name in options) if (name !== 'into' && name !== 'signal') return false
  return true
}

function requireReceive(comm: Endpoint, source: number, tag: number): void {
  if (source !== ANY_SOURCE && source !== PROC_NULL && !isRank(source, comm.size))
    throw badRank('source', source, comm.size)
  if (tag !== ANY_TAG && !isTag(tag)) throw badTag(tag, `ANY_TAG or a tag from 0 to ${maxTag}`)
}

function statusOf({ source, tag, count, sizeBytes }: Message): Status {
  return { source, tag, count, sizeBytes }
}

function isRank(rank: unknown, size: number): boolean {
  return Number.isInteger(rank) && (rank as number) >= 0 && (rank as number) < size
}

function isTag(tag: unknown): boolean {
  return Number.isInteger(tag) && (tag as number) >= 0 && (tag as number) <= maxTag
}

function badRank(name: 'source' | 'dest', rank: unknown, size: number): RankweaveError {
  const wildcard = name === 'source' ? 'ANY_SOURCE, ' : ''
  const expected = `expected ${name} to be ${wildcard}PROC_NULL or a rank from 0 to ${size - 1}`
  return wrongValue('ERR_RANK', expected, rank)
}

function badTag(tag: unknown, expected: string): RankweaveError {
  return wrongValue('ERR_TAG', `expected ${expected}`, tag)
}
