const mebibyte = 2 ** 20

/** 8 B to 16 MiB, every power of two where libraries switch protocols. */
export const messageSizes: readonly number[] = [
  ...[8, 64, 1024, 2 ** 14],
  ...[16, 17, 18, 19, 20, 21, 22, 23, 24].map((exponent) => 2 ** exponent),
]

/** The sizes of `--sizes`. */
export function wholeSizes(text: string): number[] {
  const sizes = text.split(',').map(Number)
  for (const size of sizes) {
    if (!Number.isInteger(size) || size < 1) throw new Error(`--sizes: expected bytes from 1, got '${text}'`)
  }
  return sizes
}

/** Iterations of ping-pong by size, for our programs, and as arguments for baselines/pingpong.c. */
export function pingPongPlan(messages: readonly number[]) {
  const sizes = messages.map((sizeBytes) => ({
    sizeBytes,
    // Of a path that is taken for the first time: its compiler takes the cores from the ranks.
    warmUp: clamp(2 ** 33 / sizeBytes, 100, 20_000),
    warmUpMs: 1000,
    iterations: clamp(2 ** 23 / sizeBytes, 1, 1000),
    batches: sizeBytes >= 2 ** 22 ? 11 : sizeBytes >= 2 ** 16 ? 21 : 41,
  }))
  return { sizes, words: sizes.map((s) => `${s.sizeBytes}:${s.iterations}:${s.batches}`) }
}

/** Iterations of a window of messages one way, for our programs and for baselines/stream.c. */
export function streamPlan(messages: readonly number[]) {
  const sizes = messages.map((sizeBytes) => {
    const window = clamp(2 ** 24 / sizeBytes, 2, 64)
    return {
      sizeBytes,
      window,
      // Until the code is compiled, its compiler takes the cores from the ranks.
      warmUp: clamp(2 ** 26 / sizeBytes / window, 100, 5000),
      warmUpMs: 1500,
      iterations: clamp(2 ** 24 / sizeBytes / window, 1, 50),
      batches: sizeBytes >= mebibyte ? 11 : 21,
    }
  })
  return { sizes, words: sizes.map((s) => `${s.sizeBytes}:${s.window}:${s.iterations}:${s.batches}`) }
}

/** Unit and key of a bandwidth. */
export const bandwidthOf = (sizeBytes: number) =>
  ({
    unit: 'GB/s',
    key: String(sizeBytes),
    // Bytes per microsecond are MB/s.
    convert: (us: number) => sizeBytes / us / 1000,
    largerIsBetter: true,
  }) as const

export const messageRate = {
  case: 'message rate, 8 B',
  unit: 'M/s',
  key: '8',
  convert: (us: number) => 1 / us,
  largerIsBetter: true,
} as const

export const bytesText = (bytes: number) =>
  bytes >= mebibyte ? `${bytes / mebibyte} MiB` : bytes >= 1024 ? `${bytes / 1024} KiB` : `${bytes} B`

const clamp = (value: number, min: number, max: number) => Math.floor(Math.max(min, Math.min(max, value)))
