import { RankweaveError, shortened, shown } from '../errors.js'
import { isPrintable } from '../text/printable.js'

/** The provenance of a figure: given by the user or a data sheet, measured, or assumed for lack of both. */
export const provenances = ['given', 'measured', 'assumed'] as const
export type Provenance = (typeof provenances)[number]

/** The source of a figure: a paper's table, a data sheet, or the machine and date of a measurement. */
export interface Origin {
  readonly provenance: Provenance
  readonly source: string
}

/** Returns the origin of a figure without a better source. */
export function assumed(source: string): Origin {
  return { provenance: 'assumed', source }
}

/**
 * The levels of distance between two ranks, from near to far: in one process, in one package (socket) of a node, in one
 * node, on two nodes.
 */
export const levels = ['process', 'package', 'node', 'network'] as const
export type Level = (typeof levels)[number]

/**
 * The costs of a message of one level in LogGP's terms (Alexandrov et al. 1995), nanoseconds. A message of m bytes
 * occupies the sender for `sendOverheadNs`, then enters the level's way after the gaps of those before it. It arrives
 * `latencyNs + m * nsPerByte` later and occupies the receiver for `receiveOverheadNs`.
 */
export interface MessageCosts {
  /**
   * The latency L, from the first byte's departure to its arrival, without overheads. At level `network`, half of it is
   * spent at each network interface; links between switches or routers add {@link HopCosts}.
   */
  readonly latencyNs: number
  /** The overhead o of the sender, whose processor can do nothing else meanwhile. */
  readonly sendOverheadNs: number
  /** The overhead o of the receiver. */
  readonly receiveOverheadNs: number
  /** The gap g: the least time between two messages of one sender, or between two arrivals at one receiver. */
  readonly gapNs: number
  /** The time G per byte on the way, the inverse of the bandwidth. */
  readonly nsPerByte: number
  /** The bytes of a header that travels with every message, however short. Default 0. */
  readonly headerBytes?: number
  /** The costs by length, if they were measured: formulas of PLogP take them. */
  readonly plogp?: MessageTables
}

/** Returns costs with LogGP's one overhead for both sender and receiver. */
export function messageCosts({ latencyNs, overheadNs, ...rest }: LogGPFigures): MessageCosts {
  return { latencyNs, sendOverheadNs: overheadNs, receiveOverheadNs: overheadNs, ...rest }
}

interface LogGPFigures extends Omit<MessageCosts, 'sendOverheadNs' | 'receiveOverheadNs'> {
  readonly overheadNs: number
}

/** The figures that every level has; below, those of links between switches and of memory. */
export const messageKeys = ['latencyNs', 'sendOverheadNs', 'receiveOverheadNs', 'gapNs', 'nsPerByte'] as const
export const hopKeys = ['latencyNs', 'nsPerByte'] as const
export const memoryKeys = ['copyNsPerByte', 'copyBlockNs', 'reduceNsPerByte'] as const

/** The costs between ranks of one process, which share their values: nothing is sent. */
export const inProcess = messageCosts({ latencyNs: 0, overheadNs: 0, gapNs: 0, nsPerByte: 0 })

/** The costs of data in memory of one rank, nanoseconds. */
export interface MemoryCosts {
  /** The time per byte copied: packing a frame of several blocks, unpacking it, filling a slot. */
  readonly copyNsPerByte: number
  /** The time per block packed or unpacked, whatever its length. */
  readonly copyBlockNs: number
  /** The time gamma per byte of the result of a combination. */
  readonly reduceNsPerByte: number
}

/** The costs of a link between two switches or routers. A cluster has none. */
export interface HopCosts {
  readonly latencyNs: number
  readonly nsPerByte: number
}

/** The costs of a machine's links and memory. Plain data without sizes of machines. */
export interface Profile extends Origin {
  /**
   * The name in machine lines: `profile=simgrid-fast`. Letters, digits, hyphens; after a comma the clauses that replaced
   * figures: `boba,latency=25us`.
   */
  readonly name: string
  /**
   * The figures whose source is not the profile's, by path or the beginning of one: `levels.network.gapNs`, `memory`.
   */
  readonly exceptions: Readonly<Record<string, Origin>>
  readonly levels: Readonly<Record<Level, MessageCosts>>
  readonly hop: HopCosts
  readonly memory: MemoryCosts
  /** The cores of a node whose costs these are; absent if the source names none. */
  readonly coresPerNode?: number
  /** The length beyond which messages wait for their receiver (rendezvous); bytes, Infinity if none does. */
  readonly eagerLimitBytes: number
  /**
   * The time per entry that a search of a matching queue passes, in a linked list of posted receives or of unexpected
   * messages; nanoseconds. Default 0: searches take no time.
   */
  readonly matchNsPerEntry?: number
}

/** @throws ERR_MACHINE */
export function failMachine(message: string, details: Record<string, string | number> = {}): never {
  throw new RankweaveError('ERR_MACHINE', message, { details })
}

/** @throws ERR_MACHINE at a character of a machine's text, whose parts are in `details` for callers that quote another */
export function failMachineAt(text: string, at: number, reason: string): never {
  const quoted = shortened(text)
  return failMachine(`machine '${quoted}', character ${at + 1}: ${reason}`, { text: quoted, at, reason })
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

const profileName = /^[a-z0-9]+(-[a-z0-9]+)*(,(latency|bandwidth|inside)=[a-z0-9.]+)*$/i

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
  if (typeof name !== 'string' || !profileName.test(name) || name.length > 128)
    failMachine(`expected a profile named by at most 128 letters, digits and hyphens, got ${shown(name)}`)
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

/**
 * The costs of messages of one level by their length, in the terms of PLogP (Kielmann et al. 2000), nanoseconds.
 *
 * A message of m bytes takes `L + g(m)` from the start of the send to its reception. It occupies the sender for
 * `o_s(m)` and the receiver for `o_r(m)`; the sender starts the next one `g(m)` later. Values are linear between
 * neighboring lengths, constant before the first and continued along the last interval beyond the last.
 */
export interface MessageTables {
  /** The latency L, the remainder after g, so it may be below zero. */
  readonly latencyNs: number
  /** The lengths, ascending from 0 or more; 1 to 1,024 of them. */
  readonly sizesBytes: readonly number[]
  /** The gaps g(m), at each of `sizesBytes`, as the two below. */
  readonly gapNs: readonly number[]
  /** The overheads o_s(m) of the sender. */
  readonly sendOverheadNs: readonly number[]
  /** The overheads o_r(m) of the receiver. */
  readonly receiveOverheadNs: readonly number[]
}

export const tableKeys = ['gapNs', 'sendOverheadNs', 'receiveOverheadNs'] as const

const tableLimits = { sizes: 1024, bytes: 2 ** 40, costNs: 1e15 } as const

/**
 * Returns a description of the first invalid value of tables: the member, the expected and the actual value. Returns
 * null for valid ones.
 */
export function tablesFault(tables: MessageTables): string | null {
  const { sizes: most, bytes, costNs } = tableLimits
  const { latencyNs, sizesBytes } = Object(tables) as MessageTables
  if (!(Number.isFinite(latencyNs) && Math.abs(latencyNs) <= costNs))
    return `latencyNs: expected a number from -${costNs} to ${costNs}, got ${shown(latencyNs)}`
  if (!Array.isArray(sizesBytes) || sizesBytes.length === 0 || sizesBytes.length > most)
    return `sizesBytes: expected a list of 1 to ${most} lengths, got ${lengthOf(sizesBytes)}`
  for (const [i, size] of sizesBytes.entries())
    if (!(Number.isInteger(size) && size >= 0 && size <= bytes && (i === 0 || size > sizesBytes[i - 1])))
      return `sizesBytes: expected integers that ascend from 0 to ${bytes}, got ${shown(size)} at ${i}`
  for (const key of tableKeys) {
    const values: unknown = tables[key]
    if (!Array.isArray(values) || values.length !== sizesBytes.length)
      return `${key}: expected a list with a value for each of ${sizesBytes.length} lengths, got ${lengthOf(values)}`
    for (const [i, value] of values.entries())
      if (!(Number.isFinite(value) && value >= 0 && value <= costNs))
        return `${key}: expected numbers from 0 to ${costNs}, got ${shown(value)} at ${i}`
  }
  return null
}

function lengthOf(list: unknown): string {
  return Array.isArray(list) ? `one of ${list.length}` : shown(list)
}
