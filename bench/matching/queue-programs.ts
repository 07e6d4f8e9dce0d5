/** The microbenchmarks of Ghazimirsaeed 2019 on real processes: chapter 3 has the first two, chapter 6 the others. */
export const queuePrograms = [
  { key: 'mb1', what: 'MB1 reverse search, 4 senders', ranks: 5 },
  { key: 'mb2', what: 'MB2 four groups, in reverse', ranks: 5 },
  { key: 'mb3', what: 'MB3 last element, 4 senders', ranks: 5 },
  { key: 'mb4-forward', what: 'MB4 forward', ranks: 2 },
  { key: 'mb4-middle', what: 'MB4 middle', ranks: 2 },
  { key: 'mb4-reverse', what: 'MB4 reverse', ranks: 2 },
  { key: 'mb5', what: 'MB5 reverse, every second receive any tag', ranks: 2 },
] as const
export type QueueProgram = (typeof queuePrograms)[number]['key']

/** Unexpected messages when the first receive begins. */
export const queueLengths = [1, 4, 16, 64, 256, 1024, 4096, 16_384] as const

/** The case of a figure. @param side `threads`, an MPI on which ours runs, or C on one */
export function queueCase(what: string, messages: number, side: string): string {
  return `${what}, ${messages.toLocaleString('en-US')} unexpected, ${side}`
}
