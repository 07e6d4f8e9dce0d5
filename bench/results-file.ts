import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Target } from './comparison.js'
import type { Phase } from './split/paper-table.js'

/** Where figures come from. */
export interface Origin {
  readonly commit: string
  readonly date: string
  readonly machine: string
  readonly software: readonly string[]
  /** Runs of which a figure is the median, unless the figure has its own. */
  readonly runs: number
  /** The command's own output, or the text from which the figures were taken. */
  readonly source: string
  readonly note?: string
  /** Cores that other programs kept busy just before the runs: the median. */
  readonly coresBusy?: number
  /** SVG in docs/. */
  readonly image?: string
}

/** Medians of ours and of a baseline. */
export interface ResultFigure {
  readonly case: string
  readonly unit: string
  readonly ours: number
  readonly oursBest?: number
  readonly peer?: number
  readonly peerBest?: number
  /** Which baseline was the best, where there were several. */
  readonly peerName?: string
  /** ours / peer where it was computed from unrounded medians. */
  readonly ratio?: number
  /** 95% interval of the ratio. */
  readonly interval?: readonly [low: number, high: number]
  readonly target?: Target
  /** A target that is no bound of one number, as the bench has judged it. */
  readonly judged?: { readonly bound: string; readonly isMet: boolean }
  readonly runs?: number
  readonly peerRuns?: number
}

export interface ResultTable extends Origin {
  readonly title: string
  /** Names of the columns. */
  readonly ours: string
  readonly baseline: string
  readonly figures: readonly ResultFigure[]
}

/** How many times as fast 64 sorters are to be, from so many millions of entries on. */
export interface PaperTarget {
  readonly of: 'timesCppConventional' | 'timesCppMerging' | 'timesMerging'
  readonly name: string
  readonly is: number
  readonly from: number
}

/** Table 2.1 of Sack 2011 as measured here: seconds. */
export interface PaperResults extends Origin {
  readonly alphaSeconds: number
  readonly rows: readonly ({ readonly millions: number; readonly sorters: number } & Readonly<
    Record<Phase | 'total' | 'withAlpha', number>
  >)[]
  /** Splits by other means, and how many times as fast 64 sorters are. */
  readonly baselines: readonly {
    readonly millions: number
    readonly cppConventional: number
    readonly timesCppConventional: number
    readonly cppMerging: number
    readonly timesCppMerging: number
    readonly merging: number
    readonly timesMerging: number
  }[]
  readonly targets: readonly PaperTarget[]
}

/**
 * One whole split of many ranks: milliseconds of every phase on its slowest process, messages, and bytes per
 * process.
 */
export interface SplitRow {
  readonly ranks: number
  readonly processes: number
  readonly fabric: string
  readonly variant: string
  readonly runs: number
  readonly phases: Readonly<Record<string, number>>
  /** Of all phases, on the slowest process; until every rank has its communicator. */
  readonly sum: number
  readonly whole: number
  readonly messages: number
  readonly peak: number
  readonly retained: number
  /** The same split by `std::sort` on one core. */
  readonly peer?: number
}

/** Whole splits, in the order in which they were measured. */
export interface SplitResults extends Origin {
  readonly rows: readonly SplitRow[]
}

/** One file of bench/results: the figures of one command. */
export interface ResultFile {
  /** That of the command and of its page of tables. */
  readonly name: string
  readonly title: string
  readonly command: string
  /** Place on the page. */
  readonly order: number
  readonly paperTable?: PaperResults
  /** Splits on real processes, and into one communicator on logical ones. */
  readonly phases?: SplitResults
  readonly replication?: SplitResults
  readonly tables: readonly ResultTable[]
}

/** What is stored in a file, whose name is that of the bench. */
export type StoredResults = Omit<ResultFile, 'name'>

/** All files of bench/results, in the order of the page. */
export function readResults(): readonly ResultFile[] {
  const folder = fileURLToPath(new URL('results/', import.meta.url))
  const names = readdirSync(folder).filter((name) => name.endsWith('.json'))
  const files = names.map((name) => ({
    ...(JSON.parse(readFileSync(folder + name, 'utf8')) as StoredResults),
    name: name.slice(0, -'.json'.length),
  }))
  return files.sort((a, b) => a.order - b.order)
}
