import { requireKnownOptions } from '../../base/known-options.js'
import { type OptionTable, uncheckedOptions } from '../../base/option.js'
import { opKind, partialResult, type Schedule } from '../ir.js'
import { requireSchedule } from '../require-schedule.js'
import { endOfPhase, waitsAfter } from '../walk.js'
import { type FormatVersion, headerOf, requireExpressible, versionFor } from './header.js'

export interface FormatOptions {
  /**
   * The version of the format (docs/schedule-format.md). Default: 3 for a schedule in which operations wait, else 2.
   * Version 1 expresses only neighbor allgathers; tools that know no other version read it.
   */
  readonly version?: FormatVersion
}

const knownOptions: OptionTable<FormatOptions> = uncheckedOptions('version')

/**
 * Yields a schedule as JSON Lines, one string per line without its line end: the header, then every rank. It generates
 * rank by rank, so that the text of a large schedule need not fit in memory. Weights of the topology are left out.
 *
 * @throws ERR_SCHEDULE_VERSION when the version cannot express the schedule
 */
export function formatSchedule(
  schedule: Schedule,
  options: FormatOptions = {},
): Generator<string, void, undefined> {
  requireSchedule(schedule)
  requireKnownOptions('formatSchedule', options, knownOptions)
  const { version = versionFor(schedule) } = options
  requireExpressible(schedule, version)
  return linesOf(schedule, version)
}

function* linesOf(schedule: Schedule, version: FormatVersion): Generator<string, void, undefined> {
  yield JSON.stringify(headerOf(schedule, version))
  const { ranks } = schedule.specification
  for (let rank = 0; rank < ranks; rank++) yield rankLine(schedule, rank, version)
}

export function rankLine(schedule: Schedule, rank: number, version: FormatVersion): string {
  const fields = [`"rank":${rank}`]
  if (schedule.topology !== null) {
    const { outStart, outRank, inStart, inRank } = schedule.topology
    fields.push(`"out":${numbers(outRank, outStart[rank], outStart[rank + 1])}`)
    fields.push(`"in":${numbers(inRank, inStart[rank], inStart[rank + 1])}`)
  }
  if (version !== 1) {
    const { ownStart, ownBlock, slotStart } = schedule.specification
    fields.push(`"own":${numbers(ownBlock, ownStart[rank], ownStart[rank + 1])}`)
    fields.push(`"slots":${slotsText(schedule, slotStart[rank], slotStart[rank + 1])}`)
  }
  fields.push(`"staging":${schedule.staging[rank]}`)
  fields.push(`"phases":[${phaseTexts(schedule, rank, version).join(',')}]`)
  return `{${fields.join(',')}}`
}

function slotsText({ specification }: Schedule, from: number, to: number): string {
  const { slotTerm, reductions } = specification
  return list(slotTerm, from, to, (term) => {
    const texts: string[] = []
    const { runStart, first, count, stride } = reductions
    for (let run = runStart[~term]; run < runStart[~term + 1]; run++) {
      texts.push(`[${first[run]},${count[run]},${stride[run]}]`)
    }
    return `{"reduce":[${texts.join(',')}]}`
  })
}

/** Lists the phases in which a rank has operations; in version 1 all phases. */
function phaseTexts(schedule: Schedule, rank: number, version: FormatVersion): string[] {
  const phases: string[] = version === 1 ? new Array(schedule.phases).fill('{}') : []
  const to = schedule.opStart[rank + 1]
  for (let op = schedule.opStart[rank]; op < to; ) {
    const end = endOfPhase(schedule, op, to)
    const phase = schedule.opPhase[op]
    const lists = operationLists(schedule, op, end, version)
    if (version === 1) phases[phase] = `{${lists.join(',')}}`
    else phases.push(`{${[`"phase":${phase}`, ...lists].join(',')}}`)
    op = end
  }
  return phases
}

function operationLists(schedule: Schedule, first: number, end: number, version: FormatVersion): string[] {
  const { entryStart, entryBlock, entryFrom, entryRight, entryTo, opPeer, opTag } = schedule
  const send: string[] = []
  const receive: string[] = []
  const local: string[] = []
  for (let op = first; op < end; op++) {
    const kind = schedule.opKind[op]
    const [from, to] = [entryStart[op], entryStart[op + 1]]
    const read = kind === opKind.receive ? '' : numbers(entryFrom, from, to)
    const write = kind === opKind.send ? '' : numbers(entryTo, from, to)
    if (kind === opKind.combine) {
      const parts = Array.from(entryBlock.subarray(from, to), partialResult)
      const right = numbers(entryRight, from, to)
      local.push(`{"combine":[${parts}],"left":${read},"right":${right},"write":${write}}`)
      continue
    }
    const blocks = list(entryBlock, from, to, partialText)
    if (kind === opKind.send) {
      send.push(
        `{"to":${opPeer[op]},"tag":${opTag[op]}${waitText(schedule, op)},"blocks":${blocks},"read":${read}}`,
      )
    } else if (kind === opKind.receive) {
      receive.push(
        `{"from":${opPeer[op]},"tag":${opTag[op]}${waitText(schedule, op)},"blocks":${blocks},"write":${write}}`,
      )
    } else {
      local.push(`{"${version === 1 ? 'blocks' : 'copy'}":${blocks},"read":${read},"write":${write}}`)
    }
  }
  const lists: string[] = []
  if (send.length > 0) lists.push(`"send":[${send.join(',')}]`)
  if (receive.length > 0) lists.push(`"receive":[${receive.join(',')}]`)
  if (local.length > 0) lists.push(`"${version === 1 ? 'copy' : 'local'}":[${local.join(',')}]`)
  return lists
}

function waitText(schedule: Schedule, op: number): string {
  const after = waitsAfter(schedule, op)
  return after === -1 ? '' : `,"after":${after}`
}

/** Writes numbers of at least 0 as numbers, others by `nameOf`. */
function list(values: Int32Array, from: number, to: number, nameOf: (value: number) => string): string {
  let negative = from
  while (negative < to && values[negative] >= 0) negative++
  if (negative === to) return numbers(values, from, to)
  const texts: (string | number)[] = []
  for (let i = from; i < to; i++) texts.push(values[i] < 0 ? nameOf(values[i]) : values[i])
  return `[${texts.join(',')}]`
}

function partialText(block: number): string {
  return `{"partial":${partialResult(block)}}`
}

function numbers(values: Int32Array, from: number, to: number): string {
  return to - from === 1 ? `[${values[from]}]` : `[${values.subarray(from, to).join(',')}]`
}
