import type { Collective } from '../../schedule/specification.js'
import type { MeasurementSource } from '../measured/measurement.js'
import type { TreeOrGrid } from './tree-or-grid.js'

/**
 * The result of `rankweave tune` and `rankweave learn`, which a run, a preloaded library and generators read: a
 * decision tree or a grid for each collective.
 *
 * **File.** JSON in UTF-8, at most 16 MiB, nesting at most 44 deep; members that are not listed here are refused.
 *
 * ```json
 * {"format":"rankweave-tuning","version":1,
 *  "source":{"kind":"mpi","name":"Open MPI 4.1.4","machine":"four nodes"},
 *  "decisions":{"bcast":{"settings":[{"collective":"bcast","algorithm":"pipeline","parameters":{"segment":8192}}],
 *   "root":{"kind":"leaf","setting":0,"cases":1,"errors":0}}},
 *  "checksum":"6d7e53f5a76fccd2"}
 * ```
 *
 * **Which calls.** `decisions` has a tree or a grid for each collective that was measured. The reader's default rule
 * takes a call of another collective. It also replaces a setting that the reader does not know, or that cannot serve
 * the call (its number of ranks, its operation).
 *
 * The setting `default` leaves a call to the reader. If nodes have different numbers of processes, decisions count the
 * actual processes, and `processesPerNode` is the largest of them.
 *
 * **Which names.** With `source.kind` `mpi`, algorithms have the names of the MPI library in `source.name`, and only
 * that library in that version takes them. Otherwise they are the registry's ids.
 *
 * **Checksum.** FNV-1a of 64 bits, as 16 hexadecimal digits. It covers the UTF-8 text of the file before `,"checksum"`,
 * without spaces, tabs and ends of lines outside of strings. A reader refuses a file with another one: it was damaged,
 * or edited by hand.
 */
export interface TuningFile {
  readonly format: typeof tuningFormat
  readonly version: typeof tuningVersion
  readonly source: MeasurementSource
  /** The decisions. Each tree or grid names settings of its collective only. */
  readonly decisions: Readonly<Partial<Record<Collective, TreeOrGrid>>>
  readonly checksum: string
}

export const tuningFormat = 'rankweave-tuning'
export const tuningVersion = 1
