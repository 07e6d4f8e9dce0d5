import { interpolated } from '../base/interpolated.js'
import { RankweaveError } from '../errors.js'
import type { MessageTables } from '../machine/message-tables.js'
import type { Level, MessageCosts, Origin, Profile } from '../machine/profile.js'
import type { Collective } from '../schedule/specification.js'
import { type MeasuredData, measuredData } from '../tuning/measured/measured-data.js'
import type { Measurement } from '../tuning/measured/measurement.js'
import { registryText } from '../tuning/measured/registry-text.js'
import { callProcesses, type TuningCall } from '../tuning/settings/tuning-call.js'
import { type FanIn, type FittedTables, fitPLogP } from './fit-plogp.js'

/** A level whose L and g were fitted. */
export interface FittedLevel extends FittedTables {
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
