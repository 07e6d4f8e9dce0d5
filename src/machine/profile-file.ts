import { jsonDepth, mostJsonDepth } from '../base/json-depth.js'
import { requireText } from '../base/known-options.js'
import { printable } from '../text/printable.js'
import {
  checkProfile,
  failMachine,
  type HopCosts,
  hopKeys,
  type Level,
  levels,
  type MemoryCosts,
  type MessageCosts,
  memoryKeys,
  messageKeys,
  type Origin,
  type Profile,
  tableKeys,
} from './profile.js'

/** The most characters of a profile file. */
const longestProfileText = 2 ** 20

const format = 'rankweave-profile'
const fileKeys = [
  'format',
  'version',
  'name',
  'provenance',
  'source',
  'exceptions',
  'levels',
  'hop',
  'memory',
  'eagerLimitBytes',
] as const
const optionalKeys = ['coresPerNode', 'matchNsPerEntry'] as const

/**
 * Returns a profile from the JSON text that {@link formatProfile} writes. Units are in the keys; `eagerLimitBytes` is
 * null if no message waits for its receiver.
 *
 * @throws ERR_MACHINE with the key that is missing, unknown or wrong
 */
export function parseProfile(text: string): Profile {
  requireText('parseProfile', text)
  if (text.length > longestProfileText)
    failMachine(`profile: expected at most ${longestProfileText} characters, got ${text.length}`)
  const file = withKeys(jsonOf(text), 'profile', fileKeys, optionalKeys)
  if (file.format !== format) failMachine(`profile, format: expected '${format}', got ${shown(file.format)}`)
  if (file.version !== 1) failMachine(`profile, version: expected 1, got ${shown(file.version)}`)
  const costs = withKeys(file.levels, 'profile, levels', levels)
  for (const level of levels) {
    const where = `profile, levels.${level}`
    const optional = ['headerBytes', 'plogp']
    const { plogp } = withKeys(costs[level], where, messageKeys, optional) as { plogp?: unknown }
    if (plogp !== undefined) withKeys(plogp, `${where}.plogp`, ['latencyNs', 'sizesBytes', ...tableKeys])
  }
  const exceptions = withKeys(file.exceptions, 'profile, exceptions', null)
  for (const [path, origin] of Object.entries(exceptions))
    withKeys(origin, `profile, exceptions, ${path}`, ['provenance', 'source'])
  // `checkProfile` checks the types of names, origins and figures.
  const profile: Profile = {
    name: file.name as string,
    provenance: file.provenance as Origin['provenance'],
    source: file.source as string,
    ...optionalFigures(file),
    exceptions: exceptions as Record<string, Origin>,
    levels: costs as Record<Level, MessageCosts>,
    hop: withKeys(file.hop, 'profile, hop', hopKeys) as unknown as HopCosts,
    memory: withKeys(file.memory, 'profile, memory', memoryKeys) as unknown as MemoryCosts,
    eagerLimitBytes:
      file.eagerLimitBytes === null ? Number.POSITIVE_INFINITY : (file.eagerLimitBytes as number),
  }
  checkProfile(profile)
  return profile
}

/** Returns the optional figures of a file, which `checkProfile` checks. */
function optionalFigures(file: object): Pick<Profile, (typeof optionalKeys)[number]> {
  return Object.fromEntries(
    Object.entries(file).filter(([key]) => optionalKeys.some((known) => known === key)),
  )
}

/** Returns the value as an object with these keys, perhaps some optional ones, and no others; null admits any. */
function withKeys<K extends string>(
  value: unknown,
  where: string,
  keys: readonly K[] | null,
  optional: readonly string[] = [],
): Record<K, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return failMachine(`${where}: expected an object, got ${shown(value)}`)
  for (const key of keys ?? [])
    if (!Object.hasOwn(value, key)) failMachine(`${where}: expected '${key}', which is missing`)
  for (const key of Object.keys(value))
    if (keys !== null && ![...keys, ...optional].includes(key))
      failMachine(`${where}: expected no key '${key}'`)
  return value as Record<K, unknown>
}

function shown(value: unknown): string {
  return (JSON.stringify(value) ?? 'nothing').slice(0, 80)
}

function jsonOf(text: string): unknown {
  if (jsonDepth(text, mostJsonDepth) > mostJsonDepth)
    return failMachine(`profile: expected values nested at most ${mostJsonDepth} deep, got deeper ones`)
  try {
    return JSON.parse(text)
  } catch (error) {
    return failMachine(`profile: expected JSON: ${printable(String(error))}`)
  }
}

/** Returns a profile as JSON text, which {@link parseProfile} reads. @throws ERR_MACHINE as {@link checkProfile} */
export function formatProfile(profile: Profile): string {
  checkProfile(profile)
  const { name, provenance, source, exceptions, levels, hop, memory, eagerLimitBytes } = profile
  const { coresPerNode, matchNsPerEntry } = profile
  const file = {
    ...{ format, version: 1, name, provenance, source, exceptions, levels, hop, memory },
    ...(coresPerNode === undefined ? {} : { coresPerNode }),
    eagerLimitBytes: Number.isFinite(eagerLimitBytes) ? eagerLimitBytes : null,
    ...(matchNsPerEntry === undefined ? {} : { matchNsPerEntry }),
  }
  return `${JSON.stringify(file, null, 2)}\n`
}
