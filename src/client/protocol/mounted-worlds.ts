import * as z from 'zod'

/** A client's request for a world of programs that join it by `rankweave join`. */
export const mountedWorldRequest = z
  .strictObject({
    ranks: z
      .int()
      .min(1)
      .max(2 ** 22),
    processes: z
      .int()
      .min(1)
      .max(1024)
      .optional()
      .describe('that are to join; ranks are distributed evenly. Default: one per rank'),
    program: z
      .string()
      .regex(/^[0-9a-f]{64}$/, 'a SHA-256, 64 hexadecimal digits')
      .optional()
      .describe('SHA-256 of the file that processes must run. Default: that of the first to join'),
  })
  .describe('a world whose processes run programs of Rankweave')

export const mountedWorldId = z
  .string()
  .regex(/^[0-9a-f]{16}$/, 'the id of a world, 16 hexadecimal digits')
  .describe('names a world; it is the beginning of its token')

const text = z.string()

export const mountedWorldInfo = z.strictObject({
  id: mountedWorldId,
  ranks: z.int(),
  processes: z.int(),
  createdAt: z.iso.datetime().describe('when, in UTC'),
  ended: z
    .strictObject({
      lost: z.array(z.strictObject({ process: z.int(), reason: text })),
      failed: text.nullable(),
      closed: text.nullable(),
    })
    .nullable()
    .describe(
      'how it ended: processes that were lost (the first 64), the failure that one reported, why it was closed; null: it has not',
    ),
})

/** The answer to the request, the only one that contains the token. */
export const openedWorld = mountedWorldInfo.extend({
  token: text.describe('for `rankweave join`; any process that has it can join'),
})

export const mountedWorldList = z.strictObject({ worlds: z.array(mountedWorldInfo) })

export type MountedWorldRequest = z.infer<typeof mountedWorldRequest>
export type MountedWorldInfo = z.infer<typeof mountedWorldInfo>
export type OpenedWorld = z.infer<typeof openedWorld>
