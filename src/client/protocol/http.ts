import * as z from 'zod'
import type { Option } from '../../base/option.js'
import { planOptions, wordOf } from './plan-words.js'

/** The formats of an upload. `spec` is one line of text such as `moore:64x64:r=4`. */
const uploadFormats = ['mtx', 'edges', 'csv', 'metis', 'json', 'spec'] as const

export const topologyId = z
  .string()
  .regex(/^t-[0-9a-f]{64}$/, 'the id of a topology, t- and 64 hexadecimal digits')
  .describe('names a topology by its content')
export const planId = z
  .string()
  .regex(/^p-[0-9a-f]{64}$/, 'the id of a plan, p- and 64 hexadecimal digits')
  .describe('names a plan by its request')
export const jobId = z
  .string()
  .regex(/^j-[0-9a-f]{64}$/, 'the id of a job, j- and 64 hexadecimal digits')
  .describe('names the job of a plan')

/** The longest block, in bytes, of a plan that a service makes. */
export const longestServedBytes = 2 ** 31 - 1

const count = z.int().min(0)
const time = z.iso.datetime().describe('when, in UTC')
/** A line of text as on the command line, of bounded length. */
const line = z.string().min(1).max(4096)

export const topologyQuery = z.strictObject({
  format: z.enum(uploadFormats).default('spec'),
  name: z.string().max(200).optional().describe('for people; not part of the id'),
  ranks: z
    .string()
    .regex(/^\d{1,8}$/, 'a number of at most 8 digits')
    .transform(Number)
    .optional()
    .describe('over which rows of a matrix are distributed. Default: one per row'),
})

export const topologyInfo = z.strictObject({
  id: topologyId,
  ranks: count,
  edges: count,
  name: z.string().describe('of the first upload of this topology, as `format` and `bytes`'),
  format: z.enum(uploadFormats),
  bytes: count,
  createdAt: time,
})

/** The answer about a topology. */
export const topologyAnswer = topologyInfo.extend({
  keys: z
    .array(z.string())
    .nullable()
    .describe('the key of every rank of a graph in `json`; null for other formats, and beyond 1 MiB'),
})

/** The answer to an upload, which also has what was found when it was read. */
export const uploadAnswer = topologyAnswer.extend({
  selfLoops: count.describe('edges from a rank to itself'),
  parallelEdges: count.describe('edges that repeat another'),
  idleRanks: count.describe('ranks without edges'),
  remark: z.string().nullable().describe('what is odd, such as ranks that seem to count from 1'),
})

export const planRequest = z
  .strictObject({
    topology: topologyId,
    strategy: line
      .optional()
      .describe(
        'as `rankweave plan --strategy` takes it. Default: `common-neighbor` with options of friends (`k` to `elide`), `auto` with `bytes`, else `direct`',
      ),
    ...fieldsOf(planOptions),
    // Another engine is refused where the request is understood, with what to use instead.
    engine: z
      .string()
      .max(64)
      .optional()
      .describe('how friends are grouped: `greedy`, the default, `improved` or `exact`'),
    machine: line
      .optional()
      .describe('one line, without files, such as `cluster:nodes=4,cores=32,profile=simgrid-fast`'),
    operation: z
      .enum(['neighbor-allgather', 'neighbor-alltoall', 'neighbor-reduce'])
      .default('neighbor-allgather'),
    bytes: count.max(longestServedBytes).optional().describe('of every block, for `auto`'),
    map: z
      .literal('auto')
      .optional()
      .describe('place ranks on the cores of `machine` first, as `rankweave map` does by default'),
  })
  .describe('a plan, as the options of `rankweave plan` describe it')

/** A plan request whose strategy is known, as it is stored. */
export const completePlanRequest = planRequest.extend({ strategy: line }).describe('with the strategy taken')

export const jobStates = ['queued', 'running', 'done', 'failed', 'cancelled'] as const

export const serviceError = z.strictObject({
  code: z.string().describe('as docs/errors.md lists them'),
  message: z.string(),
})

export const jobInfo = z.strictObject({
  id: jobId,
  plan: planId,
  topology: topologyId,
  state: z.enum(jobStates),
  progress: z
    .strictObject({ step: z.string(), done: count, total: count.nullable() })
    .nullable()
    .describe('`step` in words, `done` of `total`, null if unknown; null unless it runs'),
  error: serviceError.nullable().describe('why it failed: `code`, `message`'),
  createdAt: time,
})

export const planInfo = z.strictObject({
  id: planId,
  request: completePlanRequest,
  createdAt: time,
  bytes: count.describe('of the schedule, version 2'),
  sha256: z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .describe('of the schedule, version 2'),
  statistics: z.record(z.string(), z.unknown()).describe('as `rankweave plan --json` prints them'),
})

const object = z.record(z.string(), z.unknown())
const word = z.string()
const numberOrNull = z.number().nullable()
const ranksOf = z.array(count)

/** The statistics of a plan that this version makes; records of other versions may have others. */
export const planStatistics = z
  .strictObject({
    topology: word.describe('its id; schedules and mappings have a hash, without weights'),
    ranks: count,
    strategy: word.describe('kind of the planned strategy'),
    parameters: object.describe('settings of the strategy'),
    messages: z
      .strictObject({
        direct: count,
        planned: count,
        meanPerRank: z.number(),
        maxPerRank: count,
        interNode: count.nullable(),
      })
      .describe(
        '`planned`, with `meanPerRank`, `maxPerRank` and, on a machine, `interNode`; `direct`: of direct sends',
      ),
    volumeBlocks: count.describe('blocks sent, once per message that carries them'),
    direct: object.describe(
      'the same of direct sends: `meanPerRank`, `maxPerRank`, `interNode`, `volumeBlocks`',
    ),
    planMs: z.number().describe('milliseconds that planning took, measured once'),
    remark: word.nullable().describe('why to doubt the plan, such as more messages than direct sends'),
    verified: z.literal(true),
    machine: word.nullable(),
    mapping: object
      .optional()
      .describe(
        'with `map`: costs `before` and `after` it (`pairs`, `edges`, `hopBytes`, `busiestNode`); `isMapped`; `simulated`: times that decided, or null',
      ),
    mode: word.nullable().describe('of friend groups, as `k`, `theta`, `groups`, `steps` and `matching`'),
    k: numberOrNull,
    theta: numberOrNull,
    groups: count,
    steps: count,
    matching: object.nullable(),
    bytesPerBlock: count
      .optional()
      .describe('this and the fields below appear only with `auto`: the block length for which it chose'),
    chosen: word.optional().describe('text of the strategy'),
    considered: count.optional().describe('candidates whose time was estimated'),
    choiceMs: z.number().optional().describe('milliseconds of choosing, and of mapping before it'),
    simulated: z
      .strictObject({ directUs: z.number(), plannedUs: z.number(), speedup: z.number() })
      .nullable()
      .optional()
      .describe('time of direct sends, of the plan, and the first divided by the second'),
    alternatives: z
      .array(object)
      .optional()
      .describe(
        'simulated candidates with `strategy`, `parameters`, `timeUs`, `messages`, payload `bytes` by level (`process`, `package`, `node`, `network`), and `planMs`, the least of two runs if short; `breakEvenStarts`, calls to break even: (`choiceMs` + `planMs` - that of direct sends) / time saved per call; null: never; an upper bound where `breakEvenIsAtMost`',
      ),
    notSimulated: z
      .array(z.strictObject({ strategy: word, atLeastUs: z.number(), because: word }))
      .optional()
      .describe(
        'candidates left out: `atLeastUs` bounds their time; `because` of this bound (`slower`), of `auto:budget` (`budget`), or of too many `moves` of blocks or searches for `friends`',
      ),
    ordinaryAllgather: object.nullable().optional().describe('fastest allgather to all ranks, simulated'),
    profile: word.optional().describe('whose costs the times use'),
    origins: object.optional().describe('which figures are simulated, measured or derived'),
  })
  .meta({ title: 'statistics' })

/** The answer about a plan that this version makes. */
export const planAnswer = planInfo.extend({ statistics: planStatistics })

/** The part of a plan that one rank executes. */
export const rankProgram = z.strictObject({
  rank: count,
  out: ranksOf.optional().describe('destinations'),
  in: ranksOf.optional().describe('sources'),
  own: ranksOf.describe('blocks in the own places'),
  slots: z.array(z.unknown()).describe('what the slots, the receive buffer, must hold at the end'),
  staging: count.describe('temporary places'),
  phases: z.array(object).describe('what to execute, as in the rank line of the schedule format'),
  operations: z
    .array(
      z.strictObject({
        phase: count,
        kind: z.enum(['send', 'receive', 'copy', 'combine']),
        peer: count.nullable(),
        tag: count.nullable(),
        after: count.nullable(),
        blocks: z.array(z.int()),
      }),
    )
    .describe(
      'to show or count: `phases`, which a rank executes, as a list without places: `phase`, `kind` (`send`, `receive`, `copy`, `combine`), `peer`, `tag`, `after` (the phase that it waits for), `blocks` (-1 - p is `{"partial":p}` of `phases`)',
    ),
})

export const errorAnswerSchema = z.strictObject({ error: serviceError })
const next = z.string().nullable().describe('`after` of the next page; null on the last one')
export const topologyList = z.strictObject({
  topologies: z
    .array(topologyInfo)
    .describe('each as `GET /v1/topologies/{topology}` answers, without `keys`'),
  next,
})
export const planList = z.strictObject({
  plans: z.array(planInfo).describe('each as `GET /v1/plans/{plan}` answers'),
  next,
})

export const listQuery = z.strictObject({
  limit: z
    .string()
    .regex(/^([1-9]\d{0,2}|1000)$/, 'a number from 1 to 1000')
    .transform(Number)
    .default(100)
    .describe('records of a page, at most 1000, or 1 MiB'),
  after: z
    .string()
    .regex(/^[0-9TZ:.-]{1,40}\.[tp]-[0-9a-f]{64}$/, 'next of the page before')
    .optional()
    .describe('`next` of the page before'),
})

export const scheduleQuery = z.strictObject({ version: z.enum(['1', '2']).default('2') })
const bytesText = z
  .string()
  .regex(/^\d{1,10}$/, 'a number of at most 10 digits')
  .transform(Number)
export const simulationQuery = z.strictObject({ machine: line, bytes: bytesText })
export const exportQuery = z.strictObject({ as: z.enum(['c', 'goal']), bytes: bytesText.optional() })
export const planViewQuery = z.strictObject({
  machine: line.optional(),
  bytes: bytesText.optional(),
  rank: bytesText.optional(),
})
export const topologyViewQuery = planViewQuery.pick({ rank: true })

export type UploadFormat = (typeof uploadFormats)[number]
export type TopologyInfo = z.infer<typeof topologyInfo>
export type TopologyAnswer = z.infer<typeof topologyAnswer>
export type UploadAnswer = z.infer<typeof uploadAnswer>
/** A plan request as a client sends it: fields with a default may be missing. */
export type PlanRequest = z.input<typeof planRequest>
/** A plan request with its defaults. */
export type CompletePlanRequest = z.output<typeof completePlanRequest>
export type JobState = (typeof jobStates)[number]
export type JobInfo = z.infer<typeof jobInfo>
export type PlanInfo = z.infer<typeof planInfo>
export type ErrorAnswer = z.infer<typeof errorAnswerSchema>
export type ListQuery = z.output<typeof listQuery>
export type TopologyList = z.infer<typeof topologyList>
export type PlanList = z.infer<typeof planList>

export type RankProgram = z.infer<typeof rankProgram>

type PlanOptions = typeof planOptions
type Field<Name extends keyof PlanOptions> = z.ZodOptional<
  PlanOptions[Name] extends Option<infer Value> ? z.ZodType<Value, Value> : never
>
type Fields = { readonly [Name in Exclude<keyof PlanOptions, 'labelSeed'>]: Field<Name> } & {
  readonly labels: Field<'labelSeed'>
}

/** Returns a field for each option of a plan, with its bounds and its help. */
function fieldsOf(table: PlanOptions): Fields {
  const fields = Object.entries<Option<unknown>>(table).map(([name, option]) => [
    wordOf(name),
    fieldOf(option),
  ])
  return Object.fromEntries(fields) as Fields
}

function fieldOf({ kind, least = 0, most, words, help = '', default: initial, computed }: Option<unknown>) {
  const number = z.int().min(least)
  const value =
    kind === 'flag'
      ? z.boolean()
      : kind === 'word'
        ? z.enum(words as readonly string[])
        : most === undefined
          ? number
          : number.max(most)
  const fallback = initial ?? computed
  return value.optional().describe(fallback === undefined ? help : `${help}. Default ${fallback}`)
}
