import { type NeighborSchedule, opKind } from '../ir.js'
import { endOfPhase } from '../walk.js'
import { headerOf } from './header.js'

/**
 * A schedule as JSON Lines, one string per line without its line end: the header, then every rank. Generated rank by
 * rank, so that the text of a large schedule need not fit in memory. Weights of the topology are left out.
 */
export function* formatSchedule(schedule: NeighborSchedule): Generator<string, void, undefined> {
  yield JSON.stringify(headerOf(schedule))
  for (let rank = 0; rank < schedule.topology.ranks; rank++) yield rankLine(schedule, rank)
}

/** The line of one rank. */
export function rankLine(schedule: NeighborSchedule, rank: number): string {
  const { outStart, outRank, inStart, inRank } = schedule.topology
  const phases: string[] = new Array(schedule.phases).fill('{}')
  const to = schedule.opStart[rank + 1]
  for (let op = schedule.opStart[rank]; op < to; ) {
    const end = endOfPhase(schedule, op, to)
    phases[schedule.opPhase[op]] = phaseText(schedule, op, end)
    op = end
  }
  return (
    `{"rank":${rank},"out":${numbers(outRank, outStart[rank], outStart[rank + 1])}` +
    `,"in":${numbers(inRank, inStart[rank], inStart[rank + 1])}` +
    `,"staging":${schedule.staging[rank]},"phases":[${phases.join(',')}]}`
  )
}

function phaseText(schedule: NeighborSchedule, first: number, end: number): string {
  const { entryStart, entryBlock, entryFrom, entryTo, opPeer, opTag } = schedule
  const send: string[] = []
  const receive: string[] = []
  const copy: string[] = []
  for (let op = first; op < end; op++) {
    const column = (values: Int32Array): string => numbers(values, entryStart[op], entryStart[op + 1])
    const message = `${opPeer[op]},"tag":${opTag[op]},"blocks":${column(entryBlock)}`
    if (schedule.opKind[op] === opKind.send) {
      send.push(`{"to":${message},"read":${column(entryFrom)}}`)
    } else if (schedule.opKind[op] === opKind.receive) {
      receive.push(`{"from":${message},"write":${column(entryTo)}}`)
    } else {
      copy.push(`{"blocks":${column(entryBlock)},"read":${column(entryFrom)},"write":${column(entryTo)}}`)
    }
  }
  const lists: string[] = []
  if (send.length > 0) lists.push(`"send":[${send.join(',')}]`)
  if (receive.length > 0) lists.push(`"receive":[${receive.join(',')}]`)
  if (copy.length > 0) lists.push(`"copy":[${copy.join(',')}]`)
  return `{${lists.join(',')}}`
}

function numbers(values: Int32Array, from: number, to: number): string {
  return `[${values.subarray(from, to).join(',')}]`
}
