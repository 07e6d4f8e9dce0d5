import type * as z from 'zod'
import type {
  CompletePlanRequest,
  planRequest,
  UploadAnswer,
  UploadFormat,
} from '../../client/protocol/http.js'
import { friendWords, planOptions, understand, wordOf } from '../../client/protocol/plan-words.js'
import { outlinedMachine } from '../../machine/machine-text.js'
import type { NodeOutline } from '../../machine/nodes.js'
import type { UnderstoodRequest } from '../../neighborhood/choose/plan-request.js'
import {
  type CommonNeighbor,
  kindsWithWords,
  type Strategy,
} from '../../neighborhood/strategies/strategies.js'

export interface UploadedTopology {
  readonly path: string
  readonly format: UploadFormat
  /** The number of ranks that the rows of a matrix are distributed over; null: one per row. */
  readonly ranks: number | null
}

/** The size of an uploaded topology, and what is odd in it. */
export interface DescribedUpload extends Pick<UploadAnswer, UploadFinding> {
  readonly digest: string
  readonly ranks: number
  readonly edges: number
  /** The value of `UploadedTopology.ranks`. */
  readonly matrixRanks: number | null
}

type UploadFinding = 'selfLoops' | 'parallelEdges' | 'idleRanks' | 'remark' | 'keys'

/**
 * The tasks of worker threads. All large data travel as files, and none of them through the event loop of the service.
 */
export interface Tasks {
  /** Builds an uploaded topology and names it by its content. */
  readonly topology: {
    readonly input: { readonly upload: UploadedTopology }
    readonly output: DescribedUpload & { readonly body: Body }
  }
  /** Plans, verifies, and writes the schedule to a file. */
  readonly plan: {
    readonly input: {
      readonly upload: UploadedTopology
      readonly request: ReadRequest
      readonly into: string
    }
    readonly output: { readonly statistics: Record<string, unknown>; readonly body: Body }
  }
  /** Maps a topology to a machine by `auto`, and writes the mapping to a file as `rankweave map` does. */
  readonly mapping: {
    readonly input: {
      readonly upload: UploadedTopology
      /** The text of a machine. */
      readonly machine: string
      readonly into: string
    }
    readonly output: { readonly bytes: number }
  }
  /** Writes the schedule in another version, or as another text, to a file. */
  readonly text: {
    readonly input: {
      readonly schedule: string
      readonly as: 'version 1' | 'c' | 'goal'
      readonly bytes: number | null
      readonly into: string
    }
    readonly output: { readonly bytes: number }
  }
  /** Simulates a plan, with the output of `rankweave simulate --json`. */
  readonly simulation: {
    readonly input: { readonly schedule: string; readonly machine: string; readonly bytes: number }
    readonly output: { readonly json: string }
  }
  /** Lists the operations of one rank. */
  readonly rank: {
    readonly input: { readonly schedule: string; readonly rank: number }
    readonly output: { readonly json: string }
  }
  /** Gathers the data of a topology's pictures (src/report). */
  readonly topologyView: {
    readonly input: {
      readonly upload: UploadedTopology
      readonly name: string
      readonly rank: number | null
    }
    readonly output: { readonly json: string }
  }
  /** Gathers the data of a plan's pictures. */
  readonly planView: {
    readonly input: { readonly viewed: ViewedPlan }
    readonly output: { readonly json: string }
  }
  /** Writes these pictures as one HTML file, at most about 5 MB. */
  readonly report: {
    readonly input: { readonly viewed: ViewedPlan }
    readonly output: { readonly html: string }
  }
}

/** A plan, and the options of its pictures. */
export interface ViewedPlan {
  /** The file of the schedule. */
  readonly schedule: string
  /** The name of the topology. */
  readonly name: string
  /** The text of a machine. */
  readonly machine: string | null
  /** The bytes of a block. */
  readonly bytes: number | null
  /** The rank whose program and timeline are included. */
  readonly rank: number | null
  /** The planning time; null if it is unknown. */
  readonly planMs: number | null
  /** The time of choosing its strategy; 0 for one that was named. */
  readonly choiceMs: number
  /** The options that find its friend groups; null for plans without groups, and for those of other operations. */
  readonly friends: ViewedFriends | null
}

interface ViewedFriends {
  readonly strategy: Strategy
  /** The text of the machine that it was planned for. */
  readonly machine: string | null
  readonly groups: number
}

/** The length and SHA-256 of a file that is on the disk. */
export interface Body {
  readonly bytes: number
  readonly sha256: string
}

export type TaskKind = keyof Tasks

export interface TaskProgress {
  readonly step: string
  readonly done: number
  readonly total: number | null
}

/** The settings with which a worker thread is started. */
export interface WorkerSettings {
  readonly ranks: number
  readonly edges: number
  readonly expandedBytes: number
  readonly arraysMb: number
  readonly answerBytes: number
}

/** A request for a plan as it was read, once: plain data, which can be passed to worker threads. */
export interface ReadRequest extends UnderstoodRequest {
  readonly topology: string
  /** The machine as one line of text, which a worker thread lays out. */
  readonly machine: string | null
  /** The name of the plan, equal for equal requests. Stored plans keep their names. */
  readonly key: string
}

/** Returns a request with the strategy that is taken where it names none. */
export function withStrategy(request: z.output<typeof planRequest>): CompletePlanRequest {
  const { strategy, bytes } = request
  const hasFriends = Object.keys(friendWords).some((name) => request[spelled(name)] !== undefined)
  return {
    ...request,
    strategy: strategy ?? (hasFriends ? 'common-neighbor' : bytes !== undefined ? 'auto' : 'direct'),
  }
}

/**
 * Reads a request, with the errors of `rankweave plan`. The machine is not laid out, so this takes at most some
 * milliseconds, whatever machine the text describes.
 *
 * @returns also the size of the machine; null without one
 * @throws ERR_USAGE, ERR_STRATEGY, ERR_MACHINE
 */
export function readRequest(request: CompletePlanRequest): {
  readonly read: ReadRequest
  readonly nodes: NodeOutline | null
} {
  const { topology, machine: text = null } = request
  const machine = text === null ? undefined : outlinedMachine(text)
  const given = Object.keys(planOptions).map((name) => [name, request[spelled(name)]])
  const words = { ...request, ...Object.fromEntries(given), machine }
  const understood = understand(words, spelled)
  const key = keyOf(request, understood)
  return { read: { ...understood, topology, machine: text, key }, nodes: machine?.outline ?? null }
}

/** Returns the name of a word of planning in a request. */
const spelled = (name: string) => wordOf(name) as keyof CompletePlanRequest

/** Writes the request as the client wrote it, with defaults added. */
function keyOf(request: CompletePlanRequest, understood: UnderstoodRequest): string {
  const { topology, strategy, machine, operation, bytes = null, map } = request
  const mapped = map === undefined ? {} : { map }
  const words = { topology, strategy, machine: machine?.trim() ?? null, operation, bytes, ...mapped }
  if (!kindsWithWords.includes(strategy) || understood.strategy.kind !== strategy)
    return JSON.stringify(words)
  // The first seven are in every name. Further options are in the names of requests that give them.
  const { kind: _, k, mode, theta = null, dedupe, elide, ...rest } = understood.strategy as CommonNeighbor
  const { engine = 'greedy', labelSeed = null, ...further } = rest
  return JSON.stringify({
    ...words,
    ...{ k, mode, theta, dedupe, elide, engine, labels: labelSeed },
    ...further,
  })
}
