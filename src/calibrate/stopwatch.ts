/** The clock of the process that a program runs in. */
export interface Stopwatch {
  nowNs(): number
  /** Occupies the processor for so long. */
  compute(durationNs: number): void
}

export const processStopwatch: Stopwatch = {
  nowNs: () => performance.now() * 1e6,
  compute(durationNs) {
    const end = performance.now() + durationNs / 1e6
    while (performance.now() < end);
  },
}
