/**
 * Figures 2.2 and 2.3 of Sack 2011, of 128M entries and 64 sorters: how many times as fast a split by
 * parallel sort is with a replicated and with a distributed table.
 */
export const printed = [
  { ours: 'parallel-sort, replicated', faster: 'merging, replicated', times: 2.7, said: 'up to 2.7' },
  { ours: 'parallel-sort, distributed', faster: 'merging, replicated', times: 14, said: 'up to 14' },
  { ours: 'parallel-sort, distributed', faster: 'conventional, replicated', times: 60, said: '60' },
  { ours: 'parallel-sort, distributed', faster: 'parallel-sort, replicated', times: 5, said: 'more than 5' },
] as const

/**
 * Times that parallel-sort is to be as fast as conventional, in the phases of the split, at 2^20 ranks on 4
 * processes.
 */
export const leastGain = 1.5
