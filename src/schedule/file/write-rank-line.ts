import { opKind, partialResult, type Schedule } from '../ir.js'
import { endOfPhase } from '../walk.js'
import type { FormatVersion } from './format-version.js'

/** The line of one rank. */
export function rankLine(schedule: Schedule, rank: number, version: FormatVersion): string {
  const fields = [`"rank":${rank}`]
  if (schedule.topology !== null) {
    const { outStart, outRank, inStart, inRank } = schedule.topology
    fields.push(`"out":${numbers(outRank, outStart[rank], outStart[rank + 1])}`)
    fields.push(`"in":${numbers(inRank, inStart[rank], inStart[rank + 1])}`)
  }
  if (version === 2) {
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

/** The phases in which a rank has operations; in version 1 all phases. */
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
    const [from, to] = [entryStart[op], entryStart[op + 1]]
    const blocks = () => list(entryBlock, from, to, (block) => `{"partial":${partialResult(block)}}`)
    const message = () => `${opPeer[op]},"tag":${opTag[op]},"blocks":${blocks()}`
    const read = () => numbers(entryFrom, from, to)
    const write = () => numbers(entryTo, from, to)
    switch (schedule.opKind[op]) {
      case opKind.send:
        send.push(`{"to":${message()},"read":${read()}}`)
        break
      case opKind.receive:
        receive.push(`{"from":${message()},"write":${write()}}`)
        break
      case opKind.copy: {
        const name = version === 1 ? 'blocks' : 'copy'
        local.push(`{"${name}":${blocks()},"read":${read()},"write":${write()}}`)
        break
      }
      default: {
        const parts = Array.from(entryBlock.subarray(from, to), partialResult)
        const right = numbers(entryRight, from, to)
        local.push(`{"combine":[${parts}],"left":${read()},"right":${right},"write":${write()}}`)
      }
    }
  }
  const lists: string[] = []
  if (send.length > 0) lists.push(`"send":[${send.join(',')}]`)
  if (receive.length > 0) lists.push(`"receive":[${receive.join(',')}]`)
  if (local.length > 0) lists.push(`"${version === 1 ? 'copy' : 'local'}":[${local.join(',')}]`)
  return lists
}

function numbers(values: Int32Array, from: number, to: number): string {
  return `[${values.subarray(from, to).join(',')}]`
}

/** Numbers of at least 0 as they are, others as `nameOf` writes them. */
function list(values: Int32Array, from: number, to: number, nameOf: (value: number) => string): string {
  const row = values.subarray(from, to)
  if (!row.some(isNegative)) return `[${row.join(',')}]`
  return `[${Array.from(row, (value) => (value < 0 ? nameOf(value) : value)).join(',')}]`
}

function isNegative(value: number): boolean {
  return value < 0
}
