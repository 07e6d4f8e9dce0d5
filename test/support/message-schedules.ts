import { ScheduleBuilder } from '../../src/schedule/builder.js'
import type { Schedule } from '../../src/schedule/ir.js'
import type { Specification } from '../../src/schedule/specification.js'

const none = new Int32Array(0)

/** The specification of ranks that hold and must hold nothing. */
export const nothingOf = (ranks: number): Specification => ({
  collective: 'gather',
  ranks,
  partStart: new Int32Array(ranks + 1),
  ownStart: new Int32Array(ranks + 1),
  ownBlock: none,
  slotStart: new Int32Array(ranks + 1),
  slotTerm: none,
  reductions: { isIdempotent: false, runStart: Int32Array.of(0), first: none, count: none, stride: none },
})

/** A message without data, in one phase, and the phases that its ends wait for; -1 or absent: none. */
export type BareMessage = readonly [
  source: number,
  destination: number,
  phase: number,
  sendAfter?: number,
  receiveAfter?: number,
]

export function scheduleOfMessages(ranks: number, messages: readonly BareMessage[]): Schedule {
  const builder = new ScheduleBuilder({ specification: nothingOf(ranks), strategy: 'test' })
  for (const [source, destination, phase, sendAfter = -1, receiveAfter = -1] of messages) {
    builder.send(source, phase, destination).after(sendAfter)
    builder.receive(destination, phase, source).after(receiveAfter)
  }
  return builder.build()
}
