import { NeighborScheduleBuilder } from '../../src/schedule/builder.js'
import { formatSchedule } from '../../src/schedule/file/format-schedule.js'
import type { NeighborSchedule } from '../../src/schedule/ir.js'

/** A schedule file of version 1 as plain objects, to be changed by hand. */
export interface ScheduleLines {
  header: { ranks: number; phases: number; [key: string]: unknown }
  ranks: RankObject[]
}

export interface RankObject {
  rank: number
  out: number[]
  in: number[]
  staging: number
  phases: PhaseObject[]
}

export interface PhaseObject {
  send: { to: number; tag: number; blocks: number[]; read: number[] }[]
  receive: { from: number; tag: number; blocks: number[]; write: number[] }[]
  copy: { blocks: number[]; read: number[]; write: number[] }[]
}

export function linesOf(schedule: NeighborSchedule): ScheduleLines {
  const [header, ...ranks] = Array.from(formatSchedule(schedule, { version: 1 }), (line) => JSON.parse(line))
  const nothing = { send: [], receive: [], copy: [] }
  for (const rank of ranks) {
    rank.phases = rank.phases.map((phase: Partial<PhaseObject>) => ({
      ...structuredClone(nothing),
      ...phase,
    }))
  }
  return { header, ranks }
}

export function textOf({ header, ranks }: ScheduleLines): string {
  return [header, ...ranks].map((line) => `${JSON.stringify(line)}\n`).join('')
}

/** The schedule that the lines describe, without going through the reader. */
export function scheduleOf({ header, ranks }: ScheduleLines, original: NeighborSchedule): NeighborSchedule {
  const builder = new NeighborScheduleBuilder({ ...original, phases: header.phases })
  for (const { rank, staging, phases } of ranks) {
    builder.stage(rank, staging)
    phases.forEach(({ send, receive, copy }, phase) => {
      for (const { to, tag, blocks, read } of send) {
        builder.send(rank, phase, to, tag)
        blocks.forEach((block, i) => void builder.add(block, read[i]))
      }
      for (const { from, tag, blocks, write } of receive) {
        builder.receive(rank, phase, from, tag)
        blocks.forEach((block, i) => void builder.add(block, write[i]))
      }
      for (const { blocks, read, write } of copy) {
        builder.copy(rank, phase)
        blocks.forEach((block, i) => void builder.add(block, read[i], write[i]))
      }
    })
  }
  return builder.build()
}
