import { requireKnownOptions } from '../../base/known-options.js'
import { RankweaveError, shown, wrongValue } from '../../errors.js'
import { topologyLimits } from '../limits.js'
import type { ProcessTopology } from '../process-topology.js'
import { edgesDigest, topologyHash } from '../topology-hash.js'
import type { Mapping } from './map-topology.js'
import type { PlacementObjective } from './problem.js'
import { requirePermutation } from './relabel.js'

const mappingFormat = 'rankweave-mapping'
const mappingVersion = 1

/** The contents of a mapping file. */
export interface MappingFile {
  readonly format: typeof mappingFormat
  readonly version: typeof mappingVersion
  /** The fingerprint of the mapped topology, as {@link topologyHash} returns it. */
  readonly topology: string
  /**
   * The digest of its edges in any order, as {@link edgesDigest} returns it. The preloaded library finds the mapping by
   * it.
   */
  readonly graph: string
  readonly objective: PlacementObjective
  /** The cost by the objective; microseconds for `simulated-time`. */
  readonly cost: number
  readonly identityCost: number
  /** The slot of every vertex: the rank whose place vertex v takes. */
  readonly slotOf: readonly number[]
}

const members: Readonly<Record<keyof MappingFile, true>> = {
  ...{ format: true, version: true, topology: true, graph: true, objective: true },
  ...{ cost: true, identityCost: true, slotOf: true },
}

/** Yields a mapping as JSON, in parts: one line for everything but the slots, which follow. */
export function* mappingText(
  topology: ProcessTopology,
  { slotOf, cost, identityCost }: Pick<Mapping, 'slotOf' | 'cost' | 'identityCost'>,
  objective: PlacementObjective,
): Generator<string> {
  const head = { format: mappingFormat, version: mappingVersion }
  const names = { topology: topologyHash(topology), graph: edgesDigest(topology) }
  yield `${JSON.stringify({ ...head, ...names, objective, cost, identityCost }).slice(0, -1)},"slotOf":[`
  for (let at = 0; at < slotOf.length; at += slotsPerPart)
    yield `${at === 0 ? '' : ','}${slotOf.subarray(at, at + slotsPerPart).join()}`
  yield ']}\n'
}

const slotsPerPart = 4096

/**
 * Reads the slots of a mapping file for a topology.
 *
 * @param where the file, for messages
 * @throws ERR_MAPPING naming the member that is missing, unknown or wrong; for a file of another topology
 */
export function readMapping(text: string, topology: ProcessTopology, where = 'mapping'): Int32Array {
  // A slot has up to eight digits and a comma.
  if (text.length > 9 * topologyLimits.ranks + 1000) throw fail(where, 'a shorter file', text.length)
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw new RankweaveError('ERR_MAPPING', `${where}: expected JSON, got ${shown(text)}`, { cause })
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw fail(where, 'an object', value)
  const file = value as Readonly<Record<string, unknown>>
  if (file['format'] !== mappingFormat)
    throw fail(`${where}, format`, `'${mappingFormat}', as rankweave map writes it`, file['format'])
  if (file['version'] !== mappingVersion)
    throw fail(`${where}, version`, String(mappingVersion), file['version'])
  requireKnownOptions(where, file, members, 'ERR_MAPPING')
  const { topology: hash, graph, slotOf } = file
  if (!Array.isArray(slotOf)) throw fail(`${where}, slotOf`, 'a list of slots', slotOf)
  if (slotOf.length !== topology.ranks)
    throw fail(`${where}, slotOf`, `${topology.ranks} slots, one for each rank`, slotOf.length)
  requirePermutation(slotOf, `${where}, slotOf: `)
  const own = topologyHash(topology)
  if (hash !== own) throw fail(`${where}, topology`, `a mapping of this topology, ${own}`, hash)
  const edges = edgesDigest(topology)
  if (graph !== edges) throw fail(`${where}, graph`, `'${edges}'`, graph)
  return Int32Array.from(slotOf as number[])
}

const fail = (where: string, expected: string, got: unknown) =>
  wrongValue('ERR_MAPPING', `${where}: expected ${expected}`, got)
