import { cpus } from 'node:os'
import {
  halved,
  measureConventional,
  measureMerging,
  measureSorters,
  randomLists,
  type SorterRow,
} from './paper-method.js'
import type { SplitBaseline } from './split-baseline.js'

export const million = 2 ** 20

export interface TableOptions {
  /** Millions (2^20) of entries, and numbers of sorters, powers of two from 2. */
  readonly millions: readonly number[]
  readonly sorters: readonly number[]
  /** Figures are the median; at most 3 runs for more than 32M entries. */
  readonly runs: number
  /** Seconds charged per message on the critical path, since memory has almost no latency. */
  readonly alpha: number
}

/** Splits that are not by parallel sort, of one number of entries; seconds, null without a C++ compiler. */
export interface Baselines {
  readonly entries: number
  readonly conventional: number
  readonly merging: number
  readonly cppConventional: number | null
  readonly cppMerging: number | null
}

/** A target: how many times faster the split with most sorters is, alpha included. */
export interface Verdict {
  readonly entries: number
  readonly sorters: number
  readonly faster: 'conventional split in C++' | 'merging per stage in C++' | 'our merging per stage'
  readonly times: number | null
  readonly target: number | null
  readonly met: boolean | null
}

/** Table 2.1 as measured on this machine. */
export interface SplitTable {
  readonly machine: string
  readonly peer: string
  readonly alpha: number
  readonly runs: number
  readonly rows: readonly SorterRow[]
  readonly baselines: readonly Baselines[]
  readonly verdicts: readonly Verdict[]
}

/**
 * Measures the table, and the baseline in the same run.
 * @param onRow is called with every row as it is measured
 */
export function measureTable(
  { millions, sorters, runs, alpha }: TableOptions,
  baseline: SplitBaseline,
  onRow: (line: string) => void,
): SplitTable {
  const rows: SorterRow[] = []
  const baselines: Baselines[] = []
  for (const size of millions) {
    const entries = size * million
    const few = size > 32 ? Math.min(3, runs) : runs
    const most = Math.max(...sorters)
    let lists = randomLists(entries, most)
    for (;;) {
      if (sorters.includes(lists.count)) {
        const row = measureSorters(lists, few)
        rows.push(row)
        onRow(`${size}M entries, ${row.sorters} sorters: ${row.total.toFixed(4)} s`)
      }
      if (lists.count === 2) break
      lists = halved(lists)
    }
    const merging = measureMerging(lists, few)
    const conventional = measureConventional(lists, size > 32 ? 1 : few)
    onRow(`${size}M entries, merging: ${merging.toFixed(3)} s, conventional: ${conventional.toFixed(3)} s`)
    const cppConventional = median(baseline.seconds('conventional', entries, size > 32 ? 1 : few))
    const cppMerging = median(baseline.seconds('merging', entries, few))
    onRow(`${size}M entries, C++: conventional ${cppConventional} s, merging ${cppMerging} s`)
    baselines.push({ entries, conventional, merging, cppConventional, cppMerging })
  }
  const cores = cpus()
  const machine = `${cores.length} x ${cores[0]?.model.trim() ?? 'unknown'}, Node ${process.version}`
  const verdicts = baselines.flatMap((baseline) => verdictsOn(rows, baseline, alpha))
  return { machine, peer: baseline.how, alpha, runs, rows, baselines, verdicts }
}

/** Targets apply to 64 sorters: compared with conventional splits for 128M entries, else for 8M and more. */
function verdictsOn(rows: readonly SorterRow[], baseline: Baselines, alpha: number): Verdict[] {
  const { entries, cppConventional, cppMerging, merging } = baseline
  const of = rows.filter((row) => row.entries === entries)
  const most = of.reduce((a, b) => (b.sorters > a.sorters ? b : a))
  const ours = most.total + alpha * most.messages
  const verdict = (faster: Verdict['faster'], theirs: number | null, goal: number | null): Verdict => {
    const times = theirs === null ? null : theirs / ours
    const target = most.sorters === 64 && entries >= 8 * million ? goal : null
    const met = target === null ? null : times !== null && times >= target
    return { entries, sorters: most.sorters, faster, times, target, met }
  }
  return [
    verdict('conventional split in C++', cppConventional, entries === 128 * million ? 60 : null),
    verdict('merging per stage in C++', cppMerging, 4),
    verdict('our merging per stage', merging, 10),
  ]
}

function median(samples: readonly number[] | null): number | null {
  return samples === null ? null : [...samples].sort((a, b) => a - b)[samples.length >> 1]
}
