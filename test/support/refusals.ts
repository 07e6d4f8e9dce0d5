import { algorithmOf } from '../../src/collective/algorithms.js'
import type { Algorithm, Shape } from '../../src/collective/patterns/algorithm.js'
import type { CollectiveCase } from './collective-cases.js'

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
  segments: number,
): string | null {
  // A scan gets what precedes its ranks by the algorithm of the same name for exscan.
  const algorithm = called.collective === 'scan' ? algorithmOf(`ex${called.id}`) : called
  const reason = reasonOf(hosts, given, algorithm, segments)
  return reason === null ? null : `${algorithm.id}: ${reason}`
}

function reasonOf(
  hosts: readonly number[],
  { collective, content }: CollectiveCase,
  algorithm: Algorithm,
  segments: number,
): string | null {
  const shape = shapeOf(hosts, { collective, content }, algorithm, segments)
  // Along the path of the tree every rank takes part, and whole arrays are combined.
  if (shape === null) return null
  const reason = algorithm.refuses?.(shape) ?? null
  if (reason !== null || algorithm.order === undefined) return reason
  const parts = collective === 'reduce-scatter' ? shape.ranks : (algorithm.parts?.(shape) ?? segments)
  if (content === 'matrices' && parts > 1)
    return 'it cuts arrays into parts, and operation matrix product takes whole arrays'
  const order = algorithm.order(shape)
  if (content === 'doubles' && order !== 'tree')
    return "it associates differently from the tree, which changes the bits of the result: pass order: 'any'"
  if (content === 'matrices' && order === 'any')
    return 'it does not combine in rank order, and operation matrix product does not commute'
  return null
}

/** Who takes part; null for ranks along their paths of the tree. */
function shapeOf(
  hosts: readonly number[],
  { collective, content }: Pick<CollectiveCase, 'collective' | 'content'>,
  { isAlongPath, order }: Algorithm,
  segments: number,
): Shape | null {
  const isInOrder = collective.endsWith('scan') || content !== 'integers'
  if (order === undefined || !isInOrder) return { ranks: new Set(hosts).size, segments }
  if (isAlongPath === true) return null
  if (content !== 'doubles') return { ranks: runsIn(hosts), segments }
  const starts = nodesWithin(hosts, 0, hosts.length)
  return { ranks: starts.length, firstRank: Int32Array.from([...starts, hosts.length]), segments }
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
