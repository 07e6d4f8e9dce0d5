import { RankweaveError, shown } from '../errors.js'
import { isPrintable } from '../text/printable.js'
import { type MessageTables, tableKeys, tablesFault } from './message-tables.js'
import {
  hopKeys,
  levels,
  memoryKeys,
  messageKeys,
  type Origin,
  type Profile,
  provenances,
} from './profile.js'

/** @throws ERR_MACHINE */
export function failMachine(message: string, details: Record<string, string | number> = {}): never {
  throw new RankweaveError('ERR_MACHINE', message, { details })
}

const mostCost = 1e15

export interface ProfileFigure {
  /** The path, such as `levels.network.gapNs`. */
  readonly path: string
  /** The value in the unit that ends the path. */
  readonly value: number
  readonly origin: Origin
}

/**
 * Returns all figures of a profile, each with its origin: the profile's, unless its longest exception says otherwise.
 *
 * @throws ERR_MACHINE as {@link checkProfile}
 */
export function figuresOf(profile: Profile): ProfileFigure[] {
  checkProfile(profile)
  return [...valuesOf(profile), ...tableValuesOf(profile)].map(([path, value]) => ({
    ...{ path, value, origin: originOf(profile, path) },
  }))
}

function valuesOf(profile: Profile): [path: string, value: number][] {
  const { levels: costs, hop, memory, eagerLimitBytes, matchNsPerEntry } = profile
  const match: [string, number][] =
    matchNsPerEntry === undefined ? [] : [['matchNsPerEntry', matchNsPerEntry]]
  return [
    ...levels.flatMap((level) =>
      messageKeys.map((key): [string, number] => [`levels.${level}.${key}`, costs[level][key]]),
    ),
    ...levels.flatMap((level): [string, number][] => {
      const { headerBytes } = costs[level]
      return headerBytes === undefined ? [] : [[`levels.${level}.headerBytes`, headerBytes]]
    }),
    ...hopKeys.map((key): [string, number] => [`hop.${key}`, hop[key]]),
    ...memoryKeys.map((key): [string, number] => [`memory.${key}`, memory[key]]),
    ['eagerLimitBytes', eagerLimitBytes],
    ...match,
  ]
}

/**
 * Returns the figures of the tables of PLogP: `levels.network.plogp.gapNs.1024` is the gap of messages of 1,024 bytes.
 */
function tableValuesOf(profile: Profile): [path: string, value: number][] {
  return tablesOf(profile).flatMap(([path, tables]) => [
    [`${path}.latencyNs`, tables.latencyNs],
    ...tableKeys.flatMap((key) =>
      tables.sizesBytes.map((size, i): [string, number] => [`${path}.${key}.${size}`, tables[key][i]]),
    ),
  ])
}

function tablesOf({ levels: costs }: Profile): [path: string, tables: MessageTables][] {
  return levels.flatMap((level): [string, MessageTables][] => {
    const { plogp } = costs[level]
    return plogp === undefined ? [] : [[`levels.${level}.plogp`, plogp]]
  })
}

function originOf({ provenance, source, exceptions }: Profile, path: string): Origin {
  for (let end = path.length; end > 0; end = path.lastIndexOf('.', end - 1)) {
    const begin = path.slice(0, end)
    if (Object.hasOwn(exceptions, begin)) return exceptions[begin]
  }
  return { provenance, source }
}

/**
 * Checks the name, that every cost is a number from 0 to 10^15 (eleven days in nanoseconds), and that every exception
 * names a figure.
 *
 * @throws ERR_MACHINE with the path of the first figure that is not
 */
export function checkProfile(profile: Profile): void {
  const { name, hop, memory, exceptions, levels: costs } = Object(profile) as Profile
  const groups = [hop, memory, exceptions, ...levels.map((level) => costs?.[level])]
  if (groups.some((group) => typeof group !== 'object' || group === null))
    failMachine(`profile ${shown(name)}: expected levels, hop, memory and exceptions, got some of them`)
  if (typeof name !== 'string' || !/^[a-z0-9]+(-[a-z0-9]+)*$/i.test(name) || name.length > 64)
    failMachine(`expected a profile named by at most 64 letters, digits and hyphens, got ${shown(name)}`)
  const values = valuesOf(profile)
  for (const [path, value] of values) {
    const isUnlimited = path === 'eagerLimitBytes' && value === Number.POSITIVE_INFINITY
    if (!isUnlimited && !(Number.isFinite(value) && value >= 0))
      failMachine(`profile '${name}', ${path}: expected a number of at least 0, got ${shown(value)}`)
    if (!isUnlimited && value > mostCost)
      failMachine(`profile '${name}', ${path}: expected at most ${mostCost}, got ${value}`)
  }
  for (const [path, tables] of tablesOf(profile)) {
    const fault = tablesFault(tables)
    if (fault !== null) failMachine(`profile '${name}', ${path}.${fault}`)
  }
  const { coresPerNode } = profile
  if (coresPerNode !== undefined && !(Number.isSafeInteger(coresPerNode) && coresPerNode >= 1))
    failMachine(
      `profile '${name}', coresPerNode: expected an integer of at least 1, got ${shown(coresPerNode)}`,
    )
  checkOrigin(name, 'profile', profile)
  const known = [...values, ...tableValuesOf(profile)]
  for (const [begin, origin] of Object.entries(exceptions)) {
    if (!known.some(([path]) => path === begin || path.startsWith(`${begin}.`)))
      failMachine(`profile '${name}', exceptions: expected a figure or the beginning of some, got '${begin}'`)
    checkOrigin(name, begin, origin)
  }
}

function checkOrigin(name: string, what: string, { provenance, source }: Origin): void {
  if (!provenances.includes(provenance))
    failMachine(
      `profile '${name}', ${what}: expected provenance ${provenances.join(', ')}, got ${shown(provenance)}`,
    )
  if (typeof source !== 'string' || source === '')
    failMachine(`profile '${name}', ${what}: expected a source, got none`)
  if (!isPrintable(source))
    failMachine(`profile '${name}', ${what}: expected a source of printable characters, got ${shown(source)}`)
}
