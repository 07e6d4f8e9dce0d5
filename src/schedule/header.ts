import { z } from 'zod'
import { topologyLimits } from '../topology/limits.js'
import { topologyHash } from '../topology/topology-hash.js'
import type { Schedule } from './ir.js'
import { maxRows } from './operation-log.js'
import type { Refuse } from './refuse.js'

/** The name in every header, and the version that this code writes and reads (docs/schedule-format.md). */
export const formatName = 'rankweave-schedule'
export const formatVersion = 1

const count = z.int().min(0).max(0x7fffffff)

/** The first line. */
export const headerSchema = z.strictObject({
  format: z.literal(formatName),
  version: z.literal(formatVersion),
  collective: z.literal('neighbor-allgather'),
  strategy: z.string(),
  parameters: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])),
  ranks: z.int().min(1).max(topologyLimits.ranks),
  phases: count,
  topologyHash: z.string().regex(/^[0-9a-f]{64}$/, 'expected 64 lowercase hexadecimal digits'),
  pairing: z.enum(['occurrence', 'cartesian']),
  cart: z.nullable(z.strictObject({ dims: z.array(count), periods: z.array(z.boolean()) })),
  /** Ranks of a slice, ascending; null for a whole schedule. */
  slice: z.nullable(z.array(count)),
})

export type ScheduleHeader = z.infer<typeof headerSchema>

export function headerOf(schedule: Schedule): ScheduleHeader {
  const { collective, strategy, parameters, phases, topology } = schedule
  const { cart, pairing, ranks } = topology
  return {
    format: formatName,
    version: formatVersion,
    collective,
    strategy,
    parameters: { ...parameters },
    ranks,
    phases,
    topologyHash: topologyHash(topology),
    pairing,
    cart: cart === null ? null : { dims: [...cart.dims], periods: [...cart.periods] },
    slice: null,
  }
}

/** Checks a header. Another format or version is said first, since nothing else can be expected of it. */
export function readHeader(value: unknown, refuse: Refuse): ScheduleHeader {
  const { format, version } = (value ?? {}) as { readonly format?: unknown; readonly version?: unknown }
  if (format !== formatName) refuse('format', `"${formatName}"`, format)
  if (version !== formatVersion) refuse('version', `${formatVersion}, the only one known`, version)
  const parsed = headerSchema.safeParse(value)
  if (!parsed.success) {
    const [{ path, message }] = parsed.error.issues
    refuse(path.join('.') || 'header', `a valid header (${message})`, valueAt(value, path))
  }
  const { phases, ranks, slice } = parsed.data
  if (ranks * phases > maxRows) refuse('phases', `at most ${maxRows} ranks times phases`, ranks * phases)
  slice?.forEach((rank, i) => {
    if (rank >= ranks) refuse(`slice[${i}]`, `a rank below ${ranks}`, rank)
    if (i > 0 && rank <= slice[i - 1]) refuse(`slice[${i}]`, 'ranks in ascending order', rank)
  })
  return parsed.data
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce((found, key) => (found as Record<PropertyKey, unknown>)?.[key], value)
}
