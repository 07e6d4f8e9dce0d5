import type { UploadFormat } from '../../client/protocol/http.js'
import type { CommonNeighbor } from '../../neighborhood/strategies/common-neighbor-strategy.js'
import type { ReadRequest } from './read-request.js'

/** A topology as it was uploaded. */
export interface UploadedTopology {
  readonly path: string
  readonly format: UploadFormat
  /** Over how many ranks the rows of a matrix are distributed; null: one per row. */
  readonly ranks: number | null
}

/**
 * What worker threads are asked for. All that is large travels as files, and none of it through the event
 * loop of the service.
 */
export interface Tasks {
  /** Builds an uploaded topology and names it by its content. */
  readonly topology: {
    readonly input: { readonly upload: UploadedTopology }
    readonly output: {
      readonly digest: string
      readonly ranks: number
      readonly edges: number
      readonly body: Body
      /** As `UploadedTopology.ranks`. */
      readonly matrixRanks: number | null
    }
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
  /** What `auto` maps a topology to on a machine, as `rankweave map` writes it, into a file. */
  readonly mapping: {
    readonly input: {
      readonly upload: UploadedTopology
      /** Text of a machine. */
      readonly machine: string
      readonly into: string
    }
    readonly output: { readonly bytes: number }
  }
  /** The schedule in another version, or as another text, into a file. */
  readonly text: {
    readonly input: {
      readonly schedule: string
      readonly as: 'version 1' | 'c' | 'goal'
      readonly bytes: number | null
      readonly into: string
    }
    readonly output: { readonly bytes: number }
  }
  /** What `rankweave simulate --json` prints. */
  readonly simulation: {
    readonly input: { readonly schedule: string; readonly machine: string; readonly bytes: number }
    readonly output: { readonly json: string }
  }
  /** What one rank does. */
  readonly rank: {
    readonly input: { readonly schedule: string; readonly rank: number }
    readonly output: { readonly json: string }
  }
  /** What pictures of a topology show (src/report). */
  readonly topologyView: {
    readonly input: {
      readonly upload: UploadedTopology
      readonly name: string
      readonly rank: number | null
    }
    readonly output: { readonly json: string }
  }
  /** What pictures of a plan show. */
  readonly planView: {
    readonly input: { readonly viewed: ViewedPlan }
    readonly output: { readonly json: string }
  }
  /** These pictures as one HTML file, at most about 5 MB. */
  readonly report: {
    readonly input: { readonly viewed: ViewedPlan }
    readonly output: { readonly html: string }
  }
}

/** A plan, and what its pictures are to show. */
export interface ViewedPlan {
  /** File of the schedule. */
  readonly schedule: string
  /** What the topology is called. */
  readonly name: string
  /** Text of a machine. */
  readonly machine: string | null
  /** Of a block. */
  readonly bytes: number | null
  /** Whose program and timeline are wanted. */
  readonly rank: number | null
  /** What planning took; null where it is not known. */
  readonly planMs: number | null
  /** What its friend groups are found by; null for plans without, and for those of other operations. */
  readonly friends: ViewedFriends | null
}

export interface ViewedFriends {
  readonly strategy: CommonNeighbor
  /** Text of the machine that it was planned for. */
  readonly machine: string | null
  readonly groups: number
}

/** Length and SHA-256 of a file that is on the disk. */
export interface Body {
  readonly bytes: number
  readonly sha256: string
}

export type TaskKind = keyof Tasks

/** How far a task is. */
export interface TaskProgress {
  readonly step: string
  readonly done: number
  readonly total: number | null
}

/** What a worker thread is started with. */
export interface WorkerSettings {
  readonly ranks: number
  readonly edges: number
  readonly expandedBytes: number
  readonly arraysMb: number
  readonly answerBytes: number
}
