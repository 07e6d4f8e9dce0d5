import { RankweaveError } from '../../errors.js'

/** What the ranks of one process contribute to a decision of a communicator's survivors. */
export interface SurvivorContribution {
  /** What they called; `mixed` when they called different things. */
  readonly kind: SurvivorCall
  /** AND of their flags. */
  readonly flag: number
  /** Losses of the communicator that each of them has acknowledged. */
  readonly acknowledged: number
  /** A context counter drawn here, for the communicator of the survivors. */
  readonly counter: number
  /** World rank of a rank here that has returned without calling; -1: there is none. */
  readonly returned: number
}

export type SurvivorCall = 'agree' | 'shrink' | 'mixed'

const kinds: readonly SurvivorCall[] = ['mixed', 'agree', 'shrink']

const contributionBytes = 20

export function encodeContribution({
  kind,
  flag,
  acknowledged,
  counter,
  returned,
}: SurvivorContribution): Uint8Array {
  const view = new DataView(new ArrayBuffer(contributionBytes))
  view.setInt32(0, kinds.indexOf(kind), true)
  view.setInt32(4, flag, true)
  view.setInt32(8, acknowledged, true)
  view.setInt32(12, counter, true)
  view.setInt32(16, returned, true)
  return new Uint8Array(view.buffer)
}

/** @throws ERR_PROTOCOL for bytes that no member encodes */
export function decodeContribution(bytes: Uint8Array): SurvivorContribution {
  if (bytes.length !== contributionBytes) {
    const got = `got ${bytes.length}`
    throw new RankweaveError('ERR_PROTOCOL', `a contribution: expected ${contributionBytes} bytes, ${got}`)
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return {
    kind: kinds[view.getInt32(0, true)] ?? 'mixed',
    flag: view.getInt32(4, true),
    acknowledged: view.getInt32(8, true),
    counter: view.getInt32(12, true),
    returned: view.getInt32(16, true),
  }
}
