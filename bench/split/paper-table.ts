/** Sorters p of Table 2.1 of Sack 2011, and its phases. */
export const sorterCounts = [2, 4, 8, 16, 32, 64] as const
export const phases = ['collect', 'splitters', 'exchange', 'merge'] as const

export type Phase = (typeof phases)[number]

/** Seconds by phase and in total; in Table 2.1 by number of sorters. */
export type PhaseTable<T> = Readonly<Record<Phase | 'total', T>>

/**
 * Table 2.1 as printed, by millions (2^20) of entries: 120 nodes of POWER5+ with 16 cores at 1.9 GHz, one
 * core each.
 */
export const paperTable: Readonly<Record<number, PhaseTable<readonly number[]>>> = {
  8: {
    collect: [0.16, 0.08, 0.03, 0.02, 0.01, 0.0],
    splitters: [0.0, 0.0, 0.01, 0.01, 0.03, 0.08],
    exchange: [0.05, 0.03, 0.02, 0.01, 0.01, 0.01],
    merge: [0.06, 0.06, 0.04, 0.03, 0.02, 0.01],
    total: [0.27, 0.17, 0.1, 0.07, 0.06, 0.1],
  },
  16: {
    collect: [0.32, 0.16, 0.08, 0.03, 0.02, 0.01],
    splitters: [0.0, 0.0, 0.01, 0.01, 0.03, 0.08],
    exchange: [0.1, 0.06, 0.03, 0.02, 0.01, 0.01],
    merge: [0.13, 0.13, 0.09, 0.05, 0.03, 0.02],
    total: [0.55, 0.35, 0.2, 0.12, 0.09, 0.11],
  },
  32: {
    collect: [0.64, 0.32, 0.16, 0.08, 0.03, 0.02],
    splitters: [0.0, 0.0, 0.01, 0.02, 0.03, 0.08],
    exchange: [0.2, 0.12, 0.07, 0.04, 0.02, 0.01],
    merge: [0.25, 0.26, 0.19, 0.11, 0.07, 0.04],
    total: [1.09, 0.7, 0.42, 0.24, 0.15, 0.15],
  },
  64: {
    collect: [1.29, 0.64, 0.32, 0.16, 0.08, 0.03],
    splitters: [0.0, 0.0, 0.01, 0.02, 0.03, 0.08],
    exchange: [0.44, 0.24, 0.13, 0.07, 0.04, 0.02],
    merge: [0.51, 0.52, 0.38, 0.24, 0.14, 0.08],
    total: [2.24, 1.41, 0.84, 0.48, 0.28, 0.22],
  },
  128: {
    collect: [2.58, 1.29, 0.64, 0.32, 0.16, 0.08],
    splitters: [0.0, 0.0, 0.01, 0.02, 0.03, 0.08],
    exchange: [0.8, 0.48, 0.27, 0.14, 0.07, 0.04],
    merge: [1.01, 1.05, 0.77, 0.49, 0.29, 0.17],
    total: [4.39, 2.82, 1.69, 0.97, 0.56, 0.37],
  },
}

/** Seconds that the paper prints; null where it has none. */
export function paperSeconds(millions: number, sorters: number, phase: Phase | 'total'): number | null {
  const column = sorterCounts.indexOf(sorters as (typeof sorterCounts)[number])
  return paperTable[millions]?.[phase][column] ?? null
}
