import { isRankweaveError, RankweaveError } from '../../errors.js'
import type { Decision } from '../../fabric/fabric.js'
import type { WorldLayout } from '../../messages/process/world-layout.js'

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

export type SurvivorCall = 'agree' | 'shrink' | 'mixed'

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
export interface Contributor {
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

export interface SurvivorDecision {
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
export function decodeDecision(
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
