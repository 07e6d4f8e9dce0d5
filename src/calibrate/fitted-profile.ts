import { interpolated } from '../base/search.js'
import { RankweaveError } from '../errors.js'
import type { Level, MessageCosts, MessageTables, Origin, Profile } from '../machine/profile.js'
import type { Collective } from '../schedule/specification.js'
import { type MeasuredData, measuredData } from '../tuning/measured/measured-data.js'
import type { Measurement } from '../tuning/measured/measurement.js'
import { registryText } from '../tuning/measured/predictors.js'
import { callProcesses, type TuningCall } from '../tuning/settings/tuning-call.js'

/** A level whose L and g were fitted. */
interface FittedLevel extends FittedTables {
  readonly level: Level
  /** The number of times of chains in the fit. */
  readonly chains: number
  readonly barriers: number
}

export interface FittedProfile {
  readonly profile: Profile
  readonly levels: readonly FittedLevel[]
}

/**
 * Returns a profile whose PLogP is fitted to measured broadcasts along a chain without segments and flat barriers.
 * Level `network` takes several nodes with one process each, level `node` one node. Overheads are those of the profile;
 * the LogGP figures of the level follow from the fitted tables (table 4.1).
 *
 * @throws ERR_MEASUREMENT if neither level has enough of them, and for measurements of different sources
 */
export function fittedProfile(
  base: Profile,
  measurements: readonly Measurement[],
  { name = base.name, fanIn }: { readonly name?: string | undefined; readonly fanIn?: FanIn } = {},
): FittedProfile {
  const data = measuredData(measurements)
  const [all, flat] = [timesOf(data, 'bcast', 'bcast-chain'), timesOf(data, 'barrier', 'barrier-linear')]
  const fits: FittedLevel[] = []
  const reasons: string[] = []
  for (const level of ['node', 'network'] as const) {
    const [chains, barriers] = [all, flat].map((times) => times.filter((time) => time.level === level))
    try {
      const fit = fitPLogP(chains, barriers, overheadsOf(base.levels[level]), fanIn)
      fits.push({ ...fit, level, chains: chains.length, barriers: barriers.length })
    } catch (error) {
      if (!(error instanceof RankweaveError)) throw error
      reasons.push(`${level}: ${error.message}`)
    }
  }
  if (fits.length === 0) throw new RankweaveError('ERR_MEASUREMENT', reasons.join('; '))
  const exceptions: Record<string, Origin> = { ...base.exceptions }
  const levels: Record<Level, MessageCosts> = { ...base.levels }
  const { kind, name: sourceName, machine } = data.source
  for (const { level, tables, chains, barriers } of fits) {
    const source = `fitted to ${chains} broadcasts and ${barriers} barriers: ${kind} ${sourceName}, ${machine}`
    for (const each of sameAs(base, level)) {
      for (const path of Object.keys(exceptions))
        if (path.startsWith(`levels.${each}.plogp`) || path === `levels.${each}.headerBytes`)
          delete exceptions[path]
      for (const key of ['plogp', 'latencyNs', 'gapNs', 'nsPerByte'])
        exceptions[`levels.${each}.${key}`] = { provenance: 'measured', source }
      levels[each] = costsOf(base.levels[each], tables)
    }
  }
  return { profile: { ...base, name, levels, exceptions }, levels: fits }
}

/** Returns the level, and packages of a node if the profile does not distinguish them. */
function sameAs({ levels }: Profile, level: Level): readonly Level[] {
  const isSame = level === 'node' && JSON.stringify(levels.package) === JSON.stringify(levels.node)
  return isSame ? ['package', 'node'] : [level]
}

interface LevelTime {
  readonly level: Level | null
  readonly ranks: number
  readonly bytes: number
  readonly timeNs: number
}

/** Returns the times of the settings that do what an algorithm of the registry does at its defaults. */
function timesOf(data: MeasuredData, collective: Collective, id: string): readonly LevelTime[] {
  const isWanted = data.settings.map(
    (setting) => setting.collective === collective && registryText(setting, data.source) === id,
  )
  return data.calls.flatMap((call, row) => {
    const first = data.rowStart[row]
    return Array.from({ length: data.rowStart[row + 1] - first }, (_, i) => first + i)
      .filter((entry) => isWanted[data.setting[entry]])
      .map((entry) => ({
        level: levelOf(call),
        ranks: callProcesses(call),
        bytes: call.bytes,
        timeNs: data.timeUs[entry] * 1000,
      }))
  })
}

function levelOf({ nodes, processesPerNode }: TuningCall): Level | null {
  if (nodes * processesPerNode < 2) return null
  if (nodes === 1) return 'node'
  return processesPerNode === 1 ? 'network' : null
}

function overheadsOf({ plogp, sendOverheadNs, receiveOverheadNs }: MessageCosts) {
  if (plogp !== undefined) return plogp
  return {
    sizesBytes: [0],
    sendOverheadNs: [sendOverheadNs],
    receiveOverheadNs: [receiveOverheadNs],
  }
}

/** Returns LogGP by table 4.1 of the source; if overheads are longer than a message, L is 0. */
function costsOf({ sendOverheadNs, receiveOverheadNs }: MessageCosts, tables: MessageTables): MessageCosts {
  const { latencyNs, sizesBytes, gapNs } = tables
  const at = (values: readonly number[]) => interpolated(sizesBytes, values)
  const [gap, last] = [at(gapNs), sizesBytes.at(-1)!]
  const overheads = at(tables.sendOverheadNs)(1) + at(tables.receiveOverheadNs)(1)
  const nsPerByte = gap(last + 1) - gap(last)
  return {
    // A profile charges G for the first byte, too.
    latencyNs: Math.max(0, latencyNs + gap(1) - overheads - nsPerByte),
    ...{ sendOverheadNs, receiveOverheadNs, gapNs: gap(1), nsPerByte, plogp: tables },
  }
}

/** The time of a broadcast along a chain of all ranks, without segments. */
interface ChainTime {
  /** The number of ranks, at least 2. */
  readonly ranks: number
  readonly bytes: number
  readonly timeNs: number
}

/** The time of a barrier in which all ranks report to one, which then releases each. */
interface FlatBarrierTime {
  /** The number of ranks, at least 2. */
  readonly ranks: number
  readonly timeNs: number
}

type MeasuredOverheads = Pick<MessageTables, 'sizesBytes' | 'sendOverheadNs' | 'receiveOverheadNs'>

/** Fitted tables, with the errors of the fit. */
interface FittedTables {
  readonly tables: MessageTables
  /** The largest error of all times, and the median: |fitted - measured| / measured. */
  readonly worstError: number
  readonly medianError: number
  /** The lengths at which the times alone would give a g below an overhead; g is the longer overhead there. */
  readonly heldSizes: readonly number[]
}

/**
 * The time of the messages of a flat barrier to one rank. `together`: as long as a single one, P g(0) + 2 L in all, as
 * the source observes. `in-turn`: one g after the other, 2 (P - 1) g(0) + 2 L. Times do not distinguish them: L less by
 * g(0), and g(0) twice as long, take alike.
 */
type FanIn = 'together' | 'in-turn'

/** The longest broadcasts that count as those of empty messages, unless there are shorter ones. */
const shortBytes = 8

/**
 * Fits L and g(m) of PLogP to times of collectives: a chain takes (P - 1)(L + g(m)), and flat barriers show how much of
 * it is g(0). Overheads stay as they were measured, and no g is below them. The fit minimizes squares of relative
 * errors.
 *
 * @returns tables with the lengths of the broadcasts, and 0
 * @throws ERR_MEASUREMENT without a broadcast, and without barriers of two numbers of ranks
 * @see Pjesivac-Grbovic 2007 §4.4.1
 */
export function fitPLogP(
  chains: readonly ChainTime[],
  barriers: readonly FlatBarrierTime[],
  { sizesBytes, sendOverheadNs, receiveOverheadNs }: MeasuredOverheads,
  fanIn: FanIn = 'together',
): FittedTables {
  if (chains.length === 0) fail('expected broadcasts along a chain without segments, got none')
  if (new Set(barriers.map(({ ranks }) => ranks)).size < 2)
    fail('expected flat barriers on at least two numbers of ranks, got fewer')
  const sizes = [...new Set(chains.map(({ bytes }) => bytes))].sort((a, b) => a - b)
  const hasShort = sizes[0] <= shortBytes
  const steps = new Map(sizes.map((size) => [size, stepOf(chains.filter(({ bytes }) => bytes === size))]))
  const short = hasShort ? chains.filter(({ bytes }) => bytes === sizes[0]) : []
  // Each row has how often L and g(0) are in a time.
  const rows = [
    ...short.map(({ ranks, timeNs }) => [ranks - 1, ranks - 1, timeNs] as const),
    ...barriers.map(({ ranks, timeNs }) => [2, gapsOf(ranks, fanIn), timeNs] as const),
  ]
  const [sent, received] = [sendOverheadNs, receiveOverheadNs].map((each) => interpolated(sizesBytes, each))
  const leastGap = (size: number): number => Math.max(sent(size), received(size))
  const free = leastSquares(rows)
  const isHeld = free[1] < leastGap(0)
  const gapOfNothing = isHeld ? leastGap(0) : free[1]
  const latencyNs = isHeld
    ? leastSquaresOf(rows.map(([a, b, t]) => [a / t, 1 - (b / t) * gapOfNothing]))
    : free[0]
  const longer = hasShort ? sizes.slice(1) : sizes
  const gaps = [gapOfNothing, ...longer.map((size) => steps.get(size)! - latencyNs)]
  const at = [0, ...longer]
  const tables: MessageTables = {
    latencyNs,
    sizesBytes: at,
    gapNs: gaps.map((gap, i) => Math.max(leastGap(at[i]), gap)),
    sendOverheadNs: at.map(sent),
    receiveOverheadNs: at.map(received),
  }
  const gap = interpolated(at, tables.gapNs)
  const errors = [
    ...chains.map(({ ranks, bytes, timeNs }) => {
      const counted = hasShort && bytes === sizes[0] ? 0 : bytes
      return ((ranks - 1) * (latencyNs + gap(counted))) / timeNs - 1
    }),
    ...barriers.map(({ ranks, timeNs }) => (2 * latencyNs + gapsOf(ranks, fanIn) * gap(0)) / timeNs - 1),
  ].map(Math.abs)
  const sorted = errors.toSorted((a, b) => a - b)
  const heldSizes = at.filter((size, i) => (i === 0 ? isHeld : gaps[i] < leastGap(size)))
  return { tables, worstError: sorted.at(-1)!, medianError: sorted[sorted.length >>> 1], heldSizes }
}

/** The number of messages that follow each other by g in a flat barrier. */
const gapsOf = (ranks: number, fanIn: FanIn): number => (fanIn === 'together' ? ranks : 2 * (ranks - 1))

/** Returns L + g(m) of the chains of one length. */
function stepOf(chains: readonly ChainTime[]): number {
  return leastSquaresOf(chains.map(({ ranks, timeNs }) => [(ranks - 1) / timeNs, 1]))
}

/** Returns x for which a x is nearest to t over rows [a, t]. */
function leastSquaresOf(rows: readonly (readonly [a: number, t: number])[]): number {
  let [products, squares] = [0, 0]
  for (const [a, t] of rows) {
    products += a * t
    squares += a * a
  }
  return products / squares
}

/** Returns x and y for which a x + b y is nearest to t, by relative error, over rows [a, b, t]. */
function leastSquares(rows: readonly (readonly [a: number, b: number, t: number])[]): [x: number, y: number] {
  let [aa, ab, bb, at, bt] = [0, 0, 0, 0, 0]
  for (const [a, b, t] of rows) {
    const [u, v] = [a / t, b / t]
    aa += u * u
    ab += u * v
    bb += v * v
    at += u
    bt += v
  }
  const determinant = aa * bb - ab * ab
  return [(at * bb - bt * ab) / determinant, (aa * bt - ab * at) / determinant]
}

function fail(message: string): never {
  throw new RankweaveError('ERR_MEASUREMENT', message)
}
