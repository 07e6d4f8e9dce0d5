import { ceilLg } from '../../cost/models/formulas.js'
import type { Collective } from '../../schedule/specification.js'
import { defaultAlgorithm } from '../settings/setting.js'
import { callKind, callProcesses, isReduction, type TuningCall } from '../settings/tuning-call.js'
import {
  bestEntry,
  entryOf,
  exactSelector,
  type MeasuredData,
  type SettingSelector,
} from './measured-data.js'

/** A call that takes longer than others that could stand for it, beyond noise. */
export interface GuidelineViolation {
  /** The guideline: `allgather <= gather + bcast`, `more bytes`, `more processes`, `fewer processes`. */
  readonly guideline: string
  readonly call: TuningCall
  /** The index of the setting that was chosen. */
  readonly setting: number
  readonly timeUs: number
  /** The bound: the times of the other calls, with the barriers that may have hidden as much of them. */
  readonly boundUs: number
  /** The ratio `timeUs / boundUs`, above 1. */
  readonly factor: number
  /** The calls that give the bound. */
  readonly by: readonly TuningCall[]
  readonly remedy: GuidelineRemedy | null
}

/**
 * A way to avoid a violation: another `setting` of the same call, the fastest measured. Otherwise it is the settings of
 * the other calls, one after the other (`composition`) or with data `padded` to more bytes.
 */
interface GuidelineRemedy {
  readonly kind: 'setting' | 'composition' | 'padding'
  readonly settings: readonly number[]
  readonly timeUs: number
}

/**
 * Returns the violations of a data set, the greatest factor first.
 *
 * - Compositions: a call takes no longer than the collectives that can stand for it (`compositionGuidelines`). A length
 *   that was not measured counts as the next longer one: data can be padded.
 * - `more bytes`: no longer than a call with more bytes.
 * - `more processes`, `fewer processes` compare neighboring numbers of nodes, or of processes per node. The smaller one
 *   takes no longer than the larger one, and that no longer than `allowedGrowth` permits. One node is not compared with
 *   several.
 *
 * A violation counts if intervals are apart: the low end of the call is above the high end of the bound. A bound has
 * the barriers that were subtracted from its times: a barrier overlaps with a short call, and hides up to all of it.
 *
 * @param select the setting of every call. Default: the best measured one. Calls whose setting has no time are left
 *   out.
 */
export function checkGuidelines(
  data: MeasuredData,
  select: SettingSelector = exactSelector(data),
): GuidelineViolation[] {
  const entries = data.calls.map((call, row) => entryOf(data, row, select(call)))
  const found: GuidelineViolation[] = []
  const check = (guideline: string, row: number, rows: readonly number[], kind: RemedyKind, growth = 1) => {
    const violation = violationOf(data, entries, guideline, row, rows, kind, growth)
    if (violation !== null) found.push(violation)
  }
  const known = [...data.calls.keys()].filter((row) => entries[row] >= 0)
  const series = groupedRows(
    data,
    known,
    (call) => `${callKind(call)} ${call.nodes} ${call.processesPerNode}`,
  )
  checkCompositions(data, known, series, check)
  for (const rows of series.values()) checkBytes(data, entries, rows, check)
  for (const spread of ['nodes', 'processesPerNode'] as const) {
    const fixed = spread === 'nodes' ? 'processesPerNode' : 'nodes'
    const groups = groupedRows(data, known, (call) => `${callKind(call)} ${call[fixed]} ${call.bytes}`)
    for (const rows of groups.values()) checkProcesses(data, rows, check)
  }
  return found.sort((a, b) => b.factor - a.factor)
}

type RemedyKind = GuidelineRemedy['kind'] | null
type Check = (
  guideline: string,
  row: number,
  rows: readonly number[],
  kind: RemedyKind,
  growth?: number,
) => void

/** Groups rows by a key, each list in the order of calls. */
function groupedRows(
  { calls }: MeasuredData,
  rows: readonly number[],
  key: (call: TuningCall) => string,
): ReadonlyMap<string, readonly number[]> {
  const groups = new Map<string, number[]>()
  for (const row of rows) {
    const group = groups.get(key(calls[row]))
    if (group === undefined) groups.set(key(calls[row]), [row])
    else group.push(row)
  }
  return groups
}

function checkCompositions(
  { calls }: MeasuredData,
  rows: readonly number[],
  series: ReadonlyMap<string, readonly number[]>,
  check: Check,
): void {
  for (const row of rows) {
    const call = calls[row]
    for (const guideline of compositionGuidelines) {
      if (guideline.collective !== call.collective) continue
      const parts = guideline.parts.map((part) => {
        const { nodes, processesPerNode } = call
        const wanted = part.bytes(call.bytes, callProcesses(call))
        const group = series.get(`${callKind(partCall(call, part))} ${nodes} ${processesPerNode}`) ?? []
        return group[firstPlace(group, (other) => calls[other].bytes >= wanted)]
      })
      const measured = parts.filter((other) => other !== undefined)
      if (measured.length === parts.length) check(guidelineText(guideline), row, measured, 'composition')
    }
  }
}

/** Returns the first place of a list, ascending in a condition, at which it holds; the length if it never does. */
function firstPlace(rows: readonly number[], holds: (row: number) => boolean): number {
  let low = 0
  let high = rows.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (holds(rows[middle])) high = middle
    else low = middle + 1
  }
  return low
}

/** Returns a call of the part's collective, of the same kind otherwise. */
function partCall(call: TuningCall, { collective }: GuidelinePart): TuningCall {
  const { operation, order, ...rest } = call
  return isReduction(collective) ? { ...call, collective } : { ...rest, collective }
}

/** Checks a call against the call with more bytes whose bound is the least. */
function checkBytes(
  data: MeasuredData,
  entries: readonly number[],
  rows: readonly number[],
  check: Check,
): void {
  let least = rows.at(-1)
  for (const row of rows.toReversed().slice(1)) {
    check('more bytes', row, [least!], 'padding')
    if (mostUs(data, entries[row]) < mostUs(data, entries[least!])) least = row
  }
}

/** Checks neighbors of a list of rows by ascending processes. */
function checkProcesses({ calls }: MeasuredData, rows: readonly number[], check: Check): void {
  rows.slice(1).forEach((larger, i) => {
    const smaller = rows[i]
    const [a, b] = [calls[smaller], calls[larger]]
    if (callProcesses(a) < 2 || (a.nodes === 1) !== (b.nodes === 1)) return
    check('more processes', smaller, [larger], null)
    check('fewer processes', larger, [smaller], null, allowedGrowth(callProcesses(a), callProcesses(b)))
  })
}

/** Returns the high end of a call's time, with the part that the barrier after it may have hidden. */
function mostUs({ highUs, barrierUs }: MeasuredData, entry: number): number {
  return highUs[entry] + barrierUs[entry]
}

function violationOf(
  data: MeasuredData,
  entries: readonly number[],
  guideline: string,
  row: number,
  rows: readonly number[],
  kind: RemedyKind,
  growth: number,
): GuidelineViolation | null {
  const { calls, setting, timeUs, lowUs, barrierUs } = data
  const entry = entries[row]
  const sum = (usOf: (entry: number) => number) =>
    rows.reduce((total, other) => total + usOf(entries[other]), 0)
  if (lowUs[entry] <= sum((other) => mostUs(data, other)) * growth) return null
  const boundUs = sum((other) => timeUs[other] + barrierUs[other]) * growth
  const best = bestEntry(data, row)
  const others = rows.map((other) => setting[entries[other]])
  const remedy = (): GuidelineRemedy | null => {
    if (timeUs[best] <= boundUs) return { kind: 'setting', settings: [setting[best]], timeUs: timeUs[best] }
    return kind === null ? null : { kind, settings: others, timeUs: boundUs }
  }
  return {
    guideline,
    call: calls[row],
    setting: setting[entry],
    timeUs: timeUs[entry],
    boundUs,
    factor: timeUs[entry] / boundUs,
    by: rows.map((other) => calls[other]),
    remedy: remedy(),
  }
}

/**
 * A collective that others can stand for: it need not take longer than they take one after the other.
 *
 * @see Träff, Gropp, Thakur 2010, Self-consistent MPI performance guidelines, §3
 */
interface CompositionGuideline {
  readonly collective: Collective
  readonly parts: readonly GuidelinePart[]
}

interface GuidelinePart {
  readonly collective: Collective
  /** Returns the bytes of the part for a call of `bytes` on P processes. */
  bytes(bytes: number, P: number): number
}

const part = (collective: Collective, bytes: GuidelinePart['bytes'] = (n) => n): GuidelinePart => ({
  collective,
  bytes,
})
const times = (n: number, P: number) => n * P
const over = (m: number, P: number) => Math.ceil(m / P)
const nothing = () => 0

export const compositionGuidelines: readonly CompositionGuideline[] = [
  { collective: 'allgather', parts: [part('gather'), part('bcast', times)] },
  { collective: 'allgather', parts: [part('alltoall')] },
  { collective: 'bcast', parts: [part('scatter', over), part('allgather', over)] },
  { collective: 'gather', parts: [part('allgather')] },
  { collective: 'scatter', parts: [part('bcast', times)] },
  { collective: 'reduce', parts: [part('allreduce')] },
  { collective: 'reduce', parts: [part('reduce-scatter', over), part('gather', over)] },
  { collective: 'allreduce', parts: [part('reduce'), part('bcast')] },
  { collective: 'allreduce', parts: [part('reduce-scatter', over), part('allgather', over)] },
  { collective: 'reduce-scatter', parts: [part('reduce', times), part('scatter')] },
  { collective: 'reduce-scatter', parts: [part('allreduce', times)] },
  { collective: 'barrier', parts: [part('allgather', nothing)] },
]

/** Returns a text such as `allgather <= gather + bcast`. */
export function guidelineText({ collective, parts }: CompositionGuideline): string {
  return `${collective} <= ${parts.map((one) => one.collective).join(' + ')}`
}

/**
 * Returns the factor by which a call may take longer on b processes than on a, from 2 to b - 1. It is in proportion, as
 * linear algorithms are, or by the rounds of doubling and one more, as past a power of two.
 */
export function allowedGrowth(a: number, b: number): number {
  return Math.max(b / a, (ceilLg(b) + 1) / ceilLg(a))
}

/** The setting whose calls are checked against guidelines, for a collective. */
export interface GuidelineBase {
  readonly collective: Collective
  /** The setting. `default`: the library's own choice. `best`: the fastest measured setting of each call. */
  readonly of: 'default' | 'best'
  readonly calls: number
  /** The number of calls at which that was measured; the others are left out. */
  readonly checked: number
}

/**
 * Returns the checked setting of each collective of a data set in the order of its calls.
 *
 * @param of for all collectives. Default: the default if a collective has one at any call, else the best.
 */
export function guidelineBases(
  data: MeasuredData,
  of?: GuidelineBase['of'],
): { readonly bases: readonly GuidelineBase[]; readonly select: SettingSelector } {
  const defaults = new Map(
    data.settings.flatMap(({ collective, algorithm }, i) =>
      algorithm === defaultAlgorithm ? [[collective, i] as const] : [],
    ),
  )
  const ofCollective = (collective: Collective) => of ?? (defaults.has(collective) ? 'default' : 'best')
  const best = exactSelector(data)
  const select: SettingSelector = (call) =>
    ofCollective(call.collective) === 'best' ? best(call) : (defaults.get(call.collective) ?? -1)
  const collectives = [...new Set(data.calls.map(({ collective }) => collective))]
  const bases = collectives.map((collective): GuidelineBase => {
    const rows = [...data.calls.keys()].filter((row) => data.calls[row].collective === collective)
    const checked = rows.filter((row) => entryOf(data, row, select(data.calls[row])) >= 0).length
    return { collective, of: ofCollective(collective), calls: rows.length, checked }
  })
  return { bases, select }
}

/** Returns a text such as `bcast: the default at 2 of 3 calls`. */
export function guidelineBaseText({ collective, of, calls, checked }: GuidelineBase): string {
  const what = of === 'default' ? 'the default' : 'the best setting'
  return `${collective}: ${what} at ${checked} of ${calls} ${calls === 1 ? 'call' : 'calls'}`
}
