import type { UploadFormat } from '../../client/protocol/http.js'
import type { CommonNeighbor } from '../../neighborhood/strategies/common-neighbor-strategy.js'
import type { ReadRequest } from './read-request.js'

export interface UploadedTopology {
  readonly path: string
  readonly format: UploadFormat
  /** The number of ranks that the rows of a matrix are distributed over; null: one per row. */
  readonly ranks: number | null
}

/**
 * The tasks of worker threads. All large data travel as files, and none of them through the event loop of the service.
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
      /** The value of `UploadedTopology.ranks`. */
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
  /** The options that find its friend groups; null for plans without groups, and for those of other operations. */
  readonly friends: ViewedFriends | null
}

export interface ViewedFriends {
  readonly strategy: CommonNeighbor
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
