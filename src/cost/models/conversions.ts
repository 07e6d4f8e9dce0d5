import { interpolated } from '../../base/search.js'
import { wrongValue } from '../../errors.js'
import { checkProfile, type Level, type Profile } from '../../machine/profile.js'
import { checkModel } from './check-input.js'
import type { Hockney, LogGP, MemoryParameters, PLogP } from './terms.js'

/**
 * Returns LogGP of one level of a machine. Its o is the mean of both overheads, and a first byte costs as much as any
 * other.
 *
 * @throws ERR_MACHINE, ERR_MODEL
 */
export function logGPOfLevel(profile: Profile, level: Level): LogGP {
  requireLevel(profile, level)
  const {
    latencyNs,
    sendOverheadNs,
    receiveOverheadNs,
    gapNs,
    nsPerByte,
    headerBytes = 0,
  } = profile.levels[level]
  return {
    model: 'loggp',
    // A profile charges G for every byte of a message and its header, LogGP for all bytes of the message but one.
    latencyNs: latencyNs + (1 + headerBytes) * nsPerByte,
    overheadNs: (sendOverheadNs + receiveOverheadNs) / 2,
    gapNs,
    nsPerByte,
    ...memoryOf(profile),
  }
}

/**
 * Returns PLogP of one level of a machine: its tables, or, without tables, those in which messages cost what they cost
 * in LogGP.
 *
 * @throws ERR_MACHINE, ERR_MODEL
 */
export function pLogPOfLevel(profile: Profile, level: Level): PLogP {
  requireLevel(profile, level)
  const { plogp } = profile.levels[level]
  if (plogp === undefined) return pLogPOf(logGPOfLevel(profile, level))
  return { model: 'plogp', ...plogp, ...memoryOf(profile) }
}

function requireLevel(profile: Profile, level: Level): void {
  checkProfile(profile)
  if (typeof level !== 'string' || !Object.hasOwn(profile.levels, level))
    throw wrongValue('ERR_MODEL', `expected a level among ${Object.keys(profile.levels).join(', ')}`, level)
}

/** Returns the model in which a message takes as long: alpha = L + 2 o - G, beta = G. Gaps are lost. */
export function hockneyOf(model: LogGP): Hockney {
  checkModel(model)
  const { latencyNs, overheadNs, nsPerByte } = model
  return {
    model: 'hockney',
    latencyNs: Math.max(0, latencyNs + 2 * overheadNs - nsPerByte),
    nsPerByte,
    ...memoryOfModel(model),
  }
}

/**
 * Returns LogGP from PLogP: L = L' + g(1) - o_s(1) - o_r(1), o the mean of o_s(1) and o_r(1), g = g(1), G the slope of
 * g beyond the last size.
 *
 * @throws ERR_MODEL if L would be negative
 * @see Pjesivac-Grbovic 2007 §4.2, table 4.1
 */
export function logGPOfPLogP(model: PLogP): LogGP {
  checkModel(model)
  const { latencyNs, sizesBytes, gapNs, sendOverheadNs, receiveOverheadNs } = model
  const g = interpolated(sizesBytes, gapNs)
  const [os, or] = [
    interpolated(sizesBytes, sendOverheadNs)(1),
    interpolated(sizesBytes, receiveOverheadNs)(1),
  ]
  const last = sizesBytes.at(-1)!
  const converted: LogGP = {
    model: 'loggp',
    latencyNs: latencyNs + g(1) - os - or,
    overheadNs: (os + or) / 2,
    gapNs: g(1),
    nsPerByte: Math.max(0, g(last + 1) - g(last)),
    ...memoryOfModel(model),
  }
  checkModel(converted)
  return converted
}

/** Returns PLogP in which every message takes as long: g(m) = g + (m - 1) G, and overheads without a slope. */
export function pLogPOf(model: LogGP): PLogP {
  checkModel(model)
  const { latencyNs, overheadNs, gapNs, nsPerByte } = model
  return {
    model: 'plogp',
    latencyNs: latencyNs + 2 * overheadNs - gapNs,
    sizesBytes: [0, 1, 2],
    gapNs: [gapNs, gapNs, gapNs + nsPerByte],
    sendOverheadNs: [overheadNs, overheadNs, overheadNs],
    receiveOverheadNs: [overheadNs, overheadNs, overheadNs],
    ...memoryOfModel(model),
  }
}

function memoryOf({ memory: { reduceNsPerByte, copyNsPerByte } }: Profile): MemoryParameters {
  return { reduceNsPerByte, copyNsPerByte }
}

function memoryOfModel({ reduceNsPerByte, copyNsPerByte }: MemoryParameters): MemoryParameters {
  return {
    ...(reduceNsPerByte === undefined ? {} : { reduceNsPerByte }),
    ...(copyNsPerByte === undefined ? {} : { copyNsPerByte }),
  }
}
