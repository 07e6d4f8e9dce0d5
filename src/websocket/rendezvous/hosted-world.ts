import type { Clock } from '../../base/clock.js'
import { RankweaveError } from '../../errors.js'
import { Decisions } from '../../fabric/authority.js'
import type { RendezvousLimits, WorldLimits } from '../protocol/limits.js'
import {
  breakCauses,
  decodeFromMember,
  encodeControl,
  type FromRendezvous,
  type HeartbeatRequest,
  type JoinRequest,
  relayedProcess,
  setRelayedProcess,
  type ToRendezvous,
} from '../protocol/messages.js'
import { equalSecrets, fromHex, randomBytes, toHex } from '../protocol/secrets.js'
import { messageBytes, type Socket } from '../socket/socket.js'
import { BrokenLinks } from './broken-links.js'
import { SilenceMonitor } from './heartbeats.js'
import { beat, HostedMember, type Party } from './hosted-member.js'
import { protocolError, refusalFrom, wrongToken } from './refuse.js'

interface HostedWorldOptions {
  readonly id: string
  readonly token: string
  readonly processes: number
  readonly own: number
  readonly onLost: (process: number, reason: string) => void
  readonly program: string | undefined
  readonly library: string | undefined
  readonly tuning: string | undefined
  readonly settings: string
  readonly limits: WorldLimits
  readonly rendezvous: RendezvousLimits
  readonly clock: Clock
  /** Called when the world has ended, before `ended` resolves. */
  readonly forget: () => void
}

/** The outcome of a world. */
export interface WorldEnd {
  /** The processes that were lost, in order, and why; all others have left. */
  readonly lost: readonly { readonly process: number; readonly reason: string }[]
  /** The failure that the first process to fail reported, with which all others fail; null if there is none. */
  readonly failed: string | null
  /** The reason for closing it before all processes had left or were lost; null if it was not closed. */
  readonly closed: string | null
}

/** A world of a rendezvous: it collects members, starts, orders losses and decisions, relays, and ends. */
export class HostedWorld {
  readonly id: string
  readonly token: string
  readonly ended: Promise<WorldEnd>
  readonly #options: HostedWorldOptions
  readonly #clock: Clock
  /** The members that wait, in the order in which they joined. */
  readonly #waiting = new Set<HostedMember>()
  /** The members by process; empty while the world waits. */
  #members: readonly HostedMember[] = []
  readonly #nonces = new Set<string>()
  readonly #silence: SilenceMonitor<HostedMember>
  readonly #links: BrokenLinks
  readonly #decisions: Decisions
  readonly #lost: { readonly process: number; readonly reason: string }[] = []
  /** The losses in the order in which they were noticed, not yet announced. */
  readonly #noticed: { readonly member: HostedMember; readonly error: RankweaveError }[] = []
  #isTelling = false
  #failure: string | null = null
  /** The bytes handed on, by sender, that have not been reported to it. */
  readonly #handed = new Map<HostedMember, number>()
  #resolveEnded!: (end: WorldEnd) => void
  #isEnded = false

  constructor(options: HostedWorldOptions) {
    const { id, token, processes, limits, clock } = options
    this.id = id
    this.token = token
    this.#options = options
    this.#clock = clock
    this.ended = new Promise((resolve) => {
      this.#resolveEnded = resolve
    })
    this.#silence = new SilenceMonitor(limits, clock, (member) =>
      this.#fail(member, lost(`it was silent for ${limits.silenceMs} ms`)),
    )
    const living = () => this.#members.filter(({ state }) => state === 'joined').length
    this.#links = new BrokenLinks(clock, limits, {
      living,
      isOverdue: (process) => this.#silence.isOverdue(this.#members[process]),
      lose: (process, reason) => this.#fail(this.#members[process], lost(reason)),
    })
    this.#decisions = new Decisions(processes, (process, key, { contributions, lost }) => {
      this.#send(this.#members[process], {
        kind: 'decided',
        key,
        contributions: contributions.map((bytes) => (bytes === null ? null : toHex(bytes))),
        lost: [...lost],
      })
    })
  }

  /** Admits a process that has the token, or one of the host's own. @throws the refusals */
  join(socket: Socket, request: JoinRequest, isOwn: boolean): Party {
    const joined = [...this.#waiting, ...this.#members]
    admit(this.#options, joined, this.#nonces, this.#members.length > 0, { request, isOwn })
    // The host's own members are not limited: no other process can replay what passes in memory.
    if (!isOwn) this.#nonces.add(request.nonce)
    const member = new HostedMember(socket, request, isOwn, this.#clock, (from, sizeBytes) =>
      this.#countHanded(this.#members[from], sizeBytes),
    )
    this.#waiting.add(member)
    this.#silence.heard(member)
    const { processes, limits } = this.#options
    const { heartbeatMs, silenceMs } = limits
    member.send({ kind: 'waiting', joined: this.#waiting.size, processes, heartbeatMs, silenceMs })
    if (this.#waiting.size === processes) this.#begin()
    return {
      message: (data) => this.#guarded(member, data),
      closed: (reason) => this.#fail(member, lost(reason)),
    }
  }

  /** Connects the thread of a member that sends heartbeats. @throws ERR_TOKEN */
  heartbeat(socket: Socket, request: HeartbeatRequest): Party {
    const member = this.#members[request.process]
    if (member?.state !== 'joined' || !equalSecrets(request.secret, member.heartbeatKey)) throw wrongToken()
    this.#silence.heard(member)
    return member.beginHeartbeats(socket, () => this.#silence.heard(member))
  }

  /** Ends the world: members that have not left receive ERR_WORLD_LOST with this reason. */
  close(reason: string): void {
    if (this.#isEnded) return
    const error = new RankweaveError('ERR_WORLD_LOST', `the rendezvous has closed the world: ${reason}`)
    for (const member of [...this.#waiting, ...this.#members]) {
      if (member.state === 'left' || member.state === 'lost') continue
      member.state = 'left'
      this.#silence.forget(member)
      member.end(error)
    }
    this.#waiting.clear()
    this.#end(reason)
  }

  #begin(): void {
    const members = numbered([...this.#waiting])
    this.#members = members
    this.#waiting.clear()
    members.forEach((member, process) => {
      member.state = 'joined'
      member.process = process
    })
    const addresses = members.map(({ request }) => request.address)
    const keysOf = drawPairKeys(addresses)
    const shared = {
      kind: 'welcome',
      world: this.id,
      nodes: members.map(({ request }) => request.node),
      addresses,
      limits: this.#options.limits,
      settings: this.#options.settings,
    } as const
    // A member that does not read is lost; the others hear of that after their welcome.
    this.#isTelling = true
    for (const member of members) {
      const { process, heartbeatKey } = member
      this.#send(member, { ...shared, process, heartbeatKey, peerKeys: keysOf(process) })
    }
    this.#tellNoticed()
  }

  /** Handles a message; a broken member is lost, and the world and the rendezvous continue. */
  #guarded(member: HostedMember, data: unknown): void {
    if (member.state === 'left' || member.state === 'lost') return
    try {
      this.#silence.heard(member)
      const bytes = messageBytes(data)
      if (bytes === undefined) this.#control(member, data as string)
      else this.#relay(member, bytes)
    } catch (error) {
      this.#fail(member, refusalFrom(error))
    }
  }

  #control(member: HostedMember, text: string): void {
    const { maxWaitingMessages, maxControlMessages } = this.#options.rendezvous
    const most = member.state === 'waiting' ? maxWaitingMessages : maxControlMessages
    if (member.rate.exceeds(most)) {
      throw new RankweaveError('ERR_LIMIT', `expected at most ${most} control messages per second`)
    }
    const message = decodeFromMember(text)
    if (message.kind === 'beat') this.#sendText(member, beat)
    else if (message.kind === 'leave') this.#leave(member, message.failure)
    else if (member.state === 'joined') this.#joinedControl(member, message)
    else throw protocolError(`no '${message.kind}' before 'welcome'`)
  }

  #joinedControl(member: HostedMember, message: ToRendezvous): void {
    switch (message.kind) {
      case 'broken': {
        const { process: peer, cause, reason } = message
        const [fault, isSilent] = [breakCauses[cause], cause === 'silent']
        if (this.#other(member, peer) === undefined) break
        this.#links.report({ reporter: member.process, peer, fault, isSilent, reason })
        break
      }
      case 'probe': {
        const peer = this.#other(member, message.process)
        if (peer?.isProbed(member.process) === true)
          this.#send(peer, { kind: 'probe', process: member.process })
        break
      }
      case 'present': {
        const peer = this.#other(member, message.process)
        if (member.hasAnswered(message.process) && peer !== undefined)
          this.#send(peer, { kind: 'present', process: member.process })
        break
      }
      case 'decide':
        this.#decisions.contribute(
          member.process,
          message.key,
          message.members,
          fromHex(message.contribution),
        )
        break
      default:
        throw protocolError(`no '${message.kind}' from a member`)
    }
  }

  /** Returns another member, while it lives. */
  #other(member: HostedMember, process: number): HostedMember | undefined {
    const peer = this.#members[process]
    if (peer === undefined || peer === member) throw protocolError(`another process than ${process}`)
    return peer.state === 'joined' ? peer : undefined
  }

  #relay(member: HostedMember, relayed: Uint8Array<ArrayBuffer>): void {
    if (member.state !== 'joined') throw protocolError('no relayed message before welcome')
    const { maxMessageBytes, maxRelayedBytes } = this.#options.limits
    const to = this.#members[relayedProcess(relayed, this.#members.length, maxMessageBytes)]
    if (to === member) throw protocolError('a relayed message to another process')
    member.relayedBytes += relayed.byteLength + overheadBytes
    if (member.relayedBytes > maxRelayedBytes) {
      throw new RankweaveError('ERR_LIMIT', `expected at most ${maxRelayedBytes} relayed bytes in flight`)
    }
    setRelayedProcess(relayed, member.process)
    if (to.state === 'joined') to.queue.push(member.process, relayed)
    else this.#countHanded(member, relayed.byteLength)
  }

  /** Counts a message that was handed on. Senders learn it together, once per turn of the timers. */
  #countHanded(member: HostedMember, sizeBytes: number): void {
    member.relayedBytes -= sizeBytes + overheadBytes
    if (member.state !== 'joined') return
    if (this.#handed.size === 0) this.#clock.later(1, this.#tellHanded)
    this.#handed.set(member, (this.#handed.get(member) ?? 0) + sizeBytes)
  }

  readonly #tellHanded = () => {
    const handed = [...this.#handed]
    this.#handed.clear()
    for (const [member, bytes] of handed) {
      if (member.state === 'joined') this.#send(member, { kind: 'handed', bytes })
    }
  }

  #leave(member: HostedMember, failure: string | undefined): void {
    if (member.state === 'joined') this.#failure ??= failure ?? null
    this.#depart(member, 'left')
    if (member.process >= 0) this.#decisions.lose(member.process)
    member.end()
    this.#endIfDone()
  }

  #depart(member: HostedMember, state: 'left' | 'lost'): void {
    member.state = state
    this.#waiting.delete(member)
    this.#silence.forget(member)
    if (member.process >= 0) this.#links.forget(member.process)
  }

  /**
   * Handles the failure of a member. While the world waits, its place is free again; later it is lost, and all members
   * learn it.
   */
  #fail(member: HostedMember, error: RankweaveError): void {
    if (member.state === 'left' || member.state === 'lost') return
    const isMember = member.state === 'joined'
    this.#depart(member, 'lost')
    if (!isMember) {
      member.end(error)
      return
    }
    this.#noticed.push({ member, error })
    // Announcing may reveal that another member does not read: its loss is reported after this one, to all members.
    if (!this.#isTelling) this.#tellNoticed()
  }

  #tellNoticed(): void {
    this.#isTelling = true
    for (let next = this.#noticed.shift(); next !== undefined; next = this.#noticed.shift()) {
      this.#tellLost(next.member, next.error)
    }
    this.#isTelling = false
    this.#endIfDone()
  }

  #tellLost(member: HostedMember, error: RankweaveError): void {
    const { process } = member
    const reason = error.message.slice(0, 500)
    this.#lost.push({ process, reason })
    this.#options.onLost(process, reason)
    const text = encodeControl({ kind: 'lost', process, reason })
    for (const other of this.#members) if (other.state === 'joined') this.#sendText(other, text)
    this.#decisions.lose(process)
    member.end(new RankweaveError(error.code, `this process is lost to its world: ${reason}`))
  }

  #send(member: HostedMember, message: FromRendezvous): void {
    this.#sendText(member, encodeControl(message))
  }

  #sendText(member: HostedMember, text: string): void {
    if (!member.sendText(text))
      this.#fail(member, new RankweaveError('ERR_LIMIT', 'it does not read what it is sent'))
  }

  #endIfDone(): void {
    const isLive = ({ state }: HostedMember) => state === 'joined'
    if (this.#members.length > 0 && !this.#members.some(isLive)) this.#end(null)
  }

  #end(closed: string | null): void {
    if (this.#isEnded) return
    this.#isEnded = true
    this.#links.stop()
    this.#options.forget()
    this.#resolveEnded({ lost: this.#lost, failed: this.#failure, closed })
  }
}

/**
 * The bytes that a relayed message takes here in addition to its content: many short ones must not take more than long
 * ones.
 */
const overheadBytes = 256

function lost(reason: string): RankweaveError {
  return new RankweaveError('ERR_WORLD_LOST', reason)
}

/** The requirements of a world for processes that join. */
interface Requirements {
  readonly processes: number
  /** The number of first processes that the host of the world runs itself: no other process takes their places. */
  readonly own: number
  /** The required program. Undefined: that of the member that has waited longest. */
  readonly program: string | undefined
  readonly library: string | undefined
  /** The checksum of the tuning file. Undefined: that of the member that has waited longest, which may have none. */
  readonly tuning: string | undefined
}

interface Joined {
  readonly request: JoinRequest
  /** Whether it is a process of the host's own, which needs no program. */
  readonly isOwn: boolean
}

/**
 * Checks whether a request to join may be granted.
 *
 * @param joined members so far, the oldest first
 * @param candidate the process that asks
 * @param nonces of all requests that were granted
 * @throws ERR_REPLAYED, ERR_WORLD_FULL, ERR_VERSION_MISMATCH, ERR_PROGRAM_MISMATCH, ERR_TUNING_MISMATCH, ERR_WORLD for
 *   a number out of range, ERR_LIMIT
 */
function admit(
  { processes, own, program, library, tuning }: Requirements,
  joined: readonly Joined[],
  nonces: ReadonlySet<string>,
  hasBegun: boolean,
  { request, isOwn }: Joined,
): void {
  const first = joined.find((other) => !other.isOwn)?.request ?? request
  const [from, to] = isOwn ? [0, own] : [own, processes]
  const expected = { program: program ?? first.program, library: library ?? first.library }
  if (nonces.has(request.nonce)) throw refusal('ERR_REPLAYED', 'this request to join was made before')
  if (hasBegun || joined.filter((other) => other.isOwn === isOwn).length >= to - from) {
    throw refusal('ERR_WORLD_FULL', `all ${to - from} processes have joined`)
  }
  if (request.library !== expected.library) {
    throw refusal('ERR_VERSION_MISMATCH', `expected Rankweave ${expected.library}, got ${request.library}`)
  }
  if (!isOwn && request.program !== expected.program) {
    const got = `expected the program ${expected.program}, got ${request.program}`
    throw refusal('ERR_PROGRAM_MISMATCH', `${got}: copy the same file to all hosts`)
  }
  // Processes of the host's own have no tuning file.
  const expectedTuning = own > 0 ? undefined : (tuning ?? first.tuning)
  if (request.tuning !== expectedTuning) {
    const named = (checksum: string | undefined) =>
      checksum === undefined
        ? 'no tuning file or online tuning'
        : `the tuning file with checksum ${checksum}, or online tuning with it`
    const message = `expected ${named(expectedTuning)}, got ${named(request.tuning)}`
    throw refusal('ERR_TUNING_MISMATCH', message)
  }
  if (request.process !== null && (request.process < from || request.process >= to)) {
    const range = from === 0 ? `below ${to}` : `from ${from} to ${to - 1}`
    throw refusal('ERR_WORLD', `expected a process ${range}, got ${request.process}`)
  }
  if (request.process !== null && joined.some((other) => other.request.process === request.process)) {
    throw refusal('ERR_WORLD_FULL', `process ${request.process} has joined`)
  }
  if (nonces.size >= 4 * processes + 1_000) {
    throw refusal('ERR_LIMIT', `expected at most ${nonces.size} requests to join this world`)
  }
}

/**
 * Orders members by process. Members that asked for a number have it; the others get the free ones, in their order. The
 * host's own members come first.
 */
function numbered<Member extends Joined>(all: readonly Member[]): Member[] {
  const joined = [...all.filter(({ isOwn }) => isOwn), ...all.filter(({ isOwn }) => !isOwn)]
  const members = new Array<Member>(joined.length)
  for (const member of joined) if (member.request.process !== null) members[member.request.process] = member
  let free = 0
  for (const member of joined) {
    if (member.request.process !== null) continue
    while (members[free] !== undefined) free++
    members[free] = member
  }
  return members
}

function refusal(code: RankweaveError['code'], message: string): RankweaveError {
  return new RankweaveError(code, message)
}

const keyBytes = 32

/**
 * Draws a key for each pair of processes that can have a data connection, so that a process can prove only its own
 * identity. Memory: 64 bytes for each pair, until the caller drops the result.
 *
 * @param addresses where each process is dialed; null: it has no data connection
 * @returns for a process its keys with all others, in hexadecimal digits; null if there is no connection
 */
function drawPairKeys(addresses: readonly (string | null)[]): (process: number) => (string | null)[] {
  // The keys are stored by the higher process of a pair, then by the lower.
  const keys = addresses.map((address, higher) =>
    toHex(randomBytes(address === null ? 0 : higher * keyBytes)),
  )
  return (process) =>
    addresses.map((address, peer) => {
      if (peer === process || address === null || addresses[process] === null) return null
      const at = Math.min(peer, process) * keyBytes * 2
      return keys[Math.max(peer, process)].slice(at, at + keyBytes * 2)
    })
}
