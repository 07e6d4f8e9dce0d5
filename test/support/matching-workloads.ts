import { below, drawnPermutation, mulberry32 } from '../../src/base/random.js'
import { ANY_SOURCE, ANY_TAG } from '../../src/messages/matching-queues/entry-list.js'
import type { MatchingOperation, OperationFields } from '../../src/messages/matching-queues/matching-trace.js'
import { messagesOfCall, type StreamedCall } from './collective-streams.js'

export interface WorkloadOptions {
  readonly processes: number
  /** How often the pattern repeats. Default: 4. */
  readonly rounds?: number
  /** Share of point-to-point receives with `ANY_SOURCE`, `ANY_TAG` or both, alike often. Default: 0. */
  readonly wildcards?: number
  /** Share of rounds whose messages arrive before their receives. Default: 0.5. */
  readonly unexpected?: number
  /** Default: 1. */
  readonly seed?: number
}

type Draw = () => number

/** A workload: the messages of a round, in the order in which they are received. */
interface Workload {
  /** One line: what happens, and which application of the thesis it stands for. */
  readonly help: string
  messages(round: number, processes: number, next: Draw): OperationFields[]
}

const pointToPointContext = 0
const collectiveContext = 1

/** A call of a collective among all processes, as process 0 sees it. */
const callOf = (
  call: Pick<StreamedCall, 'collective' | 'pattern' | 'processes' | 'call' | 'bytes'>,
): OperationFields[] => messagesOfCall({ ...call, context: collectiveContext, rank: 0 })

const messagesFrom = (source: number, count: number, bytes: number): OperationFields[] =>
  Array.from({ length: count }, (_, tag) => ({ context: pointToPointContext, source, tag, bytes }))

/** A source besides process 0. */
const anotherThan0 = (processes: number, next: Draw) => 1 + below(next, processes - 1)

/** Sources of the stencil of 27 points around process 0. */
const stencilSources = (processes: number) =>
  Array.from({ length: Math.min(26, processes - 1) }, (_, i) => 1 + Math.floor((i * (processes - 1)) / 26))

/** Synthetic workloads in place of the thesis's applications, as process 0 sees them. */
export const matchingWorkloads = {
  hotspot: {
    help: 'gather to process 0 and a message of every process to it (FDS)',
    messages: (call: number, processes: number) => [
      ...callOf({ collective: 'gather', pattern: 'fan-in', processes, call, bytes: 1024 }),
      ...Array.from({ length: processes - 1 }, (_, i) => messagesFrom(i + 1, 1, 64)).flat(),
    ],
  },
  'heavy-sources': {
    help: 'messages of 26 neighbors, four of which send 30 times as many (AMG, LAMMPS)',
    messages: (_: number, processes: number) =>
      stencilSources(processes).flatMap((source, i) => messagesFrom(source, i % 7 === 0 ? 60 : 2, 256)),
  },
  'short-collectives': {
    help: 'collectives only: allgather by a ring and a reduction by a tree (Radix)',
    messages: (call: number, processes: number) => [
      ...callOf({
        collective: 'allgather',
        pattern: 'ring',
        processes: Math.min(processes, 11),
        call,
        bytes: 8,
      }),
      ...callOf({ collective: 'reduce', pattern: 'binomial-in', processes, call, bytes: 64 }),
    ],
  },
  'point-to-point': {
    help: 'many messages of random processes and an allgather by a ring (Nbody)',
    messages: (call: number, processes: number, next: Draw) => [
      ...Array.from({ length: 2 * (processes - 1) }, (_, tag) => ({
        context: pointToPointContext,
        // Half of the messages come from an eighth of the processes.
        source:
          tag % 2 === 0
            ? anotherThan0(processes, next)
            : anotherThan0(1 + Math.ceil((processes - 1) / 8), next),
        tag,
        bytes: 512,
      })),
      ...callOf({ collective: 'allgather', pattern: 'ring', processes, call, bytes: 512 }),
    ],
  },
  allreduce: {
    help: 'many allreduces, up a tree, and messages of six neighbors (MiniAMR)',
    messages: (round: number, processes: number) => [
      ...stencilSources(processes)
        .slice(0, 6)
        .flatMap((source) => messagesFrom(source, 4, 2048)),
      ...Array.from({ length: 16 }, (_, i) =>
        callOf({
          collective: 'allreduce',
          pattern: 'binomial-in',
          processes,
          call: 16 * round + i,
          bytes: 128,
        }),
      ).flat(),
    ],
  },
} as const satisfies Record<string, Workload>

export type MatchingWorkload = keyof typeof matchingWorkloads

export const matchingWorkloadNames = Object.keys(matchingWorkloads) as readonly MatchingWorkload[]

/**
 * The trace of process 0 in a workload, generated while it is read: rounds in which all messages arrive before their
 * receives, and rounds in which all receives are posted first. Messages arrive in a random order in which those of
 * one source stay in order. The same options give the same trace.
 *
 * @see Ghazimirsaeed 2019 chapters 3 to 6 (the applications)
 */
export function* workloadTrace(
  name: MatchingWorkload,
  { processes, rounds = 4, wildcards = 0, unexpected = 0.5, seed = 1 }: WorkloadOptions,
): Generator<MatchingOperation> {
  const next = mulberry32(seed)
  const { messages }: Workload = matchingWorkloads[name]
  const isDrawn = (share: number) => next() / 2 ** 32 < share
  for (let round = 0; round < rounds; round++) {
    const received = messages(round, processes, next)
    const arriving = arrivalOrder(received, next)
    const comesFirst = isDrawn(unexpected)
    if (comesFirst) yield* arriving.map((fields) => ({ kind: 'arrive' as const, ...fields }))
    for (const fields of received) {
      const isWild = fields.collective === undefined && isDrawn(wildcards)
      yield { kind: 'post', ...fields, ...(isWild ? wildFields(below(next, 3)) : {}) }
    }
    if (!comesFirst) yield* arriving.map((fields) => ({ kind: 'arrive' as const, ...fields }))
  }
}

const wildFields = (which: number) => ({
  ...(which === 1 ? {} : { source: ANY_SOURCE }),
  ...(which === 0 ? {} : { tag: ANY_TAG }),
})

/** The messages in a random order that keeps those of each source in theirs. */
function arrivalOrder(messages: readonly OperationFields[], next: Draw): OperationFields[] {
  const ofSource = new Map<number, OperationFields[]>()
  for (const message of messages) {
    const list = ofSource.get(message.source)
    if (list === undefined) ofSource.set(message.source, [message])
    else list.push(message)
  }
  const taken = new Map<number, number>()
  return Array.from(drawnPermutation(next, messages.length), (place) => {
    const { source } = messages[place]
    const count = taken.get(source) ?? 0
    taken.set(source, count + 1)
    return ofSource.get(source)![count]
  })
}
