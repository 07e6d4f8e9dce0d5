import { RankweaveError } from '../../errors.js'
import type { JoinRequest } from '../protocol/messages.js'

/** The requirements of a world for processes that join. */
export interface Requirements {
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
export function admit(
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
    throw refusal('ERR_PROGRAM_MISMATCH', `expected the program ${expected.program}, got ${request.program}`)
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
export function numbered<Member extends Joined>(all: readonly Member[]): Member[] {
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
