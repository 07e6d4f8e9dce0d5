import * as z from 'zod'
import {
  jobId,
  jobStates,
  planId,
  planInfo,
  planRequest,
  serviceError,
  topologyInfo,
} from '../../client/protocol/http.js'

/** The file that belongs to a record. */
const body = z.strictObject({ bytes: z.int().min(0), sha256: z.string().regex(/^[0-9a-f]{64}$/) })

/** The record of a topology; its body is the upload. */
export const topologyRecord = z.strictObject({
  format: z.literal('rankweave topology 1'),
  info: topologyInfo,
  /** The number of ranks that the rows of a matrix are distributed over; null for a topology that is not a matrix. */
  ranks: z.int().min(1).nullable(),
  body,
})

/** The record of a plan; its body is the schedule, version 2. */
export const planRecord = z.strictObject({
  format: z.literal('rankweave plan 1'),
  info: planInfo,
  body,
})

/** The record of an accepted job; jobs that were queued or running when the service ended are queued again. */
export const jobRecord = z.strictObject({
  format: z.literal('rankweave job 1'),
  id: jobId,
  plan: planId,
  request: planRequest,
  state: z.enum(jobStates),
  error: serviceError.nullable(),
  /** The number of times it was begun without an end that was recorded. */
  starts: z.int().min(0),
  createdAt: z.iso.datetime(),
})

export type TopologyRecord = z.infer<typeof topologyRecord>
export type PlanRecord = z.infer<typeof planRecord>
export type JobRecord = z.infer<typeof jobRecord>

/** The kinds of records. */
export const shelves = {
  topologies: topologyRecord,
  plans: planRecord,
  jobs: jobRecord,
} as const satisfies Record<string, z.ZodType>

export type StoreShelf = keyof typeof shelves
export interface StoreRecords {
  readonly topologies: TopologyRecord
  readonly plans: PlanRecord
  readonly jobs: JobRecord
}

export function createdAt(record: StoreRecords[StoreShelf]): string {
  return 'info' in record ? record.info.createdAt : record.createdAt
}
