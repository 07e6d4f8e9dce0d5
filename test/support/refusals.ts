import { segmentsOf } from '../../src/collective/algorithm-text.js'
import { algorithmOf } from '../../src/collective/algorithms.js'
import type { Algorithm, Shape } from '../../src/collective/patterns/algorithm.js'
import type { CollectiveCase } from './collective-cases.js'
import { unitBytesOf } from './collective-data.js'

/** How a call cuts every unit of data: one of both. */
export interface Cut {
  readonly segments?: number
  readonly segmentBytes?: number
}

/**
 * With which message a call of a collective on a communicator is refused, from what an algorithm says of itself:
 * which shapes it refuses, into how many parts it cuts data, how it combines. Null where it is carried out.
 *
 * @param hosts process of every rank
 */
export function refusalOf(
  hosts: readonly number[],
  given: CollectiveCase,
  called: Algorithm,
  cut: Cut,
): string | null {
  // A scan gets what precedes its ranks by the algorithm of the same name for exscan.
  const algorithm = called.collective === 'scan' ? algorithmOf(`ex${called.id}`) : called
  const reason = reasonOf(hosts, given, algorithm, cut)
  return reason === null ? null : `${algorithm.id}: ${reason}`
}

function reasonOf(
  hosts: readonly number[],
  given: CollectiveCase,
  algorithm: Algorithm,
  cut: Cut,
): string | null {
  const { collective, content } = given
  const { isAlongPath, ...shape } = shapeOf(hosts, given, algorithm, cut)
  // Along the path of the tree every rank takes part.
  const reason = isAlongPath ? null : (algorithm.refuses?.(shape) ?? null)
  if (reason !== null) return reason
  if (algorithm.order === undefined)
    return cut.segmentBytes === undefined || isSized(given)
      ? null
      : 'the ranks do not know how long the blocks of others are: say segments instead of segment'
  const { ranks, segments = 1 } = shape
  const parts = collective === 'reduce-scatter' ? ranks : (algorithm.parts?.(shape) ?? segments)
  if (content === 'matrices' && (isAlongPath ? segments : parts) > 1)
    return 'it cuts arrays into parts, and operation matrix product takes whole arrays'
  if (isAlongPath) return null
  const order = algorithm.order(shape)
  if (content === 'doubles' && order !== 'tree')
    return "it associates differently from the tree, which changes the bits of the result: pass order: 'any'"
  if (content === 'matrices' && order === 'any')
    return 'it does not combine in rank order, and operation matrix product does not commute'
  return null
}

/** Whether the processes that plan know how long every block is. */
function isSized({ collective, lengths }: CollectiveCase): boolean {
  return collective === 'bcast' || (collective !== 'scatter' && lengths !== 'varying')
}

/** Who takes part, and how data are cut. */
function shapeOf(
  hosts: readonly number[],
  given: CollectiveCase,
  algorithm: Algorithm,
  { segments, segmentBytes = 1 }: Cut,
): Shape & { readonly isAlongPath: boolean } {
  const participants = participantsOf(hosts, given, algorithm)
  // Of the others no refusal depends on it.
  const ofBytes = (ranks: number) =>
    algorithm.order === undefined
      ? (algorithm.sections ?? 1)
      : segmentsOf({ algorithm, segmentBytes }, unitBytesOf(given), ranks)!
  return { ...participants, segments: segments ?? ofBytes(participants.ranks) }
}

function participantsOf(
  hosts: readonly number[],
  { collective, content }: CollectiveCase,
  { isAlongPath, order }: Algorithm,
) {
  const isInOrder = collective.endsWith('scan') || content === 'matrices' || content === 'doubles'
  if (order === undefined || !isInOrder) return { ranks: new Set(hosts).size, isAlongPath: false }
  if (isAlongPath === true) return { ranks: hosts.length, isAlongPath }
  if (content !== 'doubles') return { ranks: runsIn(hosts), isAlongPath: false }
  const starts = nodesWithin(hosts, 0, hosts.length)
  const firstRank = Int32Array.from([...starts, hosts.length])
  return { ranks: starts.length, firstRank, isAlongPath: false }
}

/** Runs of consecutive ranks of one process. */
function runsIn(hosts: readonly number[]): number {
  return hosts.filter((host, rank) => rank === 0 || hosts[rank - 1] !== host).length
}

/** The first ranks of the largest nodes of the tree over ranks that lie in one process. */
function nodesWithin(hosts: readonly number[], start: number, end: number): number[] {
  if (hosts.slice(start, end).every((host) => host === hosts[start])) return [start]
  let half = 1
  while (2 * half < end - start) half *= 2
  return [...nodesWithin(hosts, start, start + half), ...nodesWithin(hosts, start + half, end)]
}
