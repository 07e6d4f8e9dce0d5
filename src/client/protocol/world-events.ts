import * as z from 'zod'
import { communicatorId, worldId, worldInfo } from './worlds.js'

/** The reason why a call failed. */
export const callError = z
  .strictObject({
    code: z
      .string()
      .regex(/^ERR_[A-Z_]+$/)
      .describe('one of the codes in the documentation of errors'),
    message: z.string().describe('for people'),
    details: z
      .record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()]))
      .describe(
        'for programs: `process`, the rank in the world of the lost process; `flag`, of `agree`; others',
      ),
  })
  .meta({ title: 'error' })

const rank = z.int().min(0)

/** The messages that the service sends at any time, by `event`. */
export const worldEvents = {
  begun: z
    .strictObject({
      event: z.literal('begun'),
      world: worldId,
      rank: rank.describe('of this member in the world'),
      size: z.int().min(1).describe('ranks of the world, those of programs included'),
      comm: communicatorId,
    })
    .describe('All members have joined. Calls are permitted from here on.'),
  member: z
    .strictObject({
      event: z.literal('member'),
      world: worldId,
      rank: rank.describe('in the world'),
      state: z.enum(['left', 'lost']),
      reason: z.string().describe('for people'),
    })
    .describe('Another member of the world has left, or is lost; or a program is lost.'),
  ended: z
    .strictObject({ event: z.literal('ended'), world: worldId, error: callError })
    .describe(
      'The world has ended with this error before this member left; the member may join another one.',
    ),
  refused: z
    .strictObject({
      event: z.literal('refused'),
      id: z.int().nullable().describe('of that message; null where it has none that can be told'),
      error: callError,
    })
    .describe(
      'A message could not be read, or had an `id` that is not larger than all before: nothing was done. Where the socket is closed too, `error` says why, and so does the close code.',
    ),
  world: z
    .strictObject({ event: z.literal('world'), world: worldInfo })
    .describe('To those who watch: a world is new, or has changed; at most once per `watchMs` for each.'),
  worldEnded: z
    .strictObject({ event: z.literal('worldEnded'), world: worldId })
    .describe('To those who watch: a world has gone.'),
} as const

export type WorldEventKind = keyof typeof worldEvents
export type WorldEvent<K extends WorldEventKind = WorldEventKind> = {
  [Kind in K]: z.output<(typeof worldEvents)[Kind]>
}[K]
export type CallError = z.output<typeof callError>
