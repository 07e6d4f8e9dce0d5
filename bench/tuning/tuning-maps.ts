import { seededRandom } from '../../src/base/random.js'
import { predictUs } from '../../src/cost/models/predict.js'
import type { CostModel } from '../../src/cost/models/terms.js'
import { type MeasuredData, measuredData } from '../../src/tuning/measured/measured-data.js'
import type { Measurement } from '../../src/tuning/measured/measurement.js'

/** Grig, Myrinet MX (Pjesivac-Grbovic 2007 Table 4.12). */
export const grigLogGP: CostModel = {
  model: 'loggp',
  latencyNs: 2100,
  overheadNs: 1600,
  gapNs: 2300,
  nsPerByte: 4.4,
  reduceNsPerByte: 0.5,
}

export const grigHockney: CostModel = {
  model: 'hockney',
  latencyNs: 5640,
  nsPerByte: 4.2,
  reduceNsPerByte: 0.5,
}

const segments = [undefined, 1024, 8192, 16_384, 32_768, 65_536, 131_072]
const settings = {
  bcast: ['bcast-linear', 'bcast-binomial', 'bcast-chain', 'bcast-binary', 'bcast-split-binary'],
  allgather: [
    ...['allgather-bruck', 'allgather-recursive-doubling', 'allgather-ring'],
    'allgather-neighbor-exchange',
  ],
} as const

/**
 * Times of a collective by formula on 2 to 64 processes and 1 B to 1 MiB, each multiplied by a random factor from
 * 1 - noise to 1 + noise. With segments where the formulas have them.
 */
export function formulaMap(collective: keyof typeof settings, noise: number): MeasuredData {
  const draw = seededRandom(1)
  const lines: Measurement[] = []
  for (let processes = 2; processes <= 64; processes++)
    for (let exponent = 0; exponent <= 40; exponent++)
      for (const algorithm of settings[collective])
        for (const segment of collective === 'bcast' && algorithm !== 'bcast-linear'
          ? segments
          : [undefined]) {
          const bytes = Math.round(2 ** (exponent / 2))
          const isPowerOfTwo = (processes & (processes - 1)) === 0
          if (algorithm === 'allgather-recursive-doubling' && !isPowerOfTwo) continue
          if (algorithm === 'allgather-neighbor-exchange' && processes % 2 === 1) continue
          if (segment !== undefined && segment >= bytes) continue
          const segmentBytes = segment === undefined ? {} : { segmentBytes: segment }
          const exact = predictUs(algorithm, grigLogGP, { ranks: processes, bytes, ...segmentBytes })
          const timeUs = exact * (1 + noise * (2 * draw() - 1))
          lines.push({
            version: 1,
            source: { kind: 'formula', name: 'loggp', machine: 'grig' },
            collective,
            algorithm,
            parameters: segment === undefined ? {} : { segment },
            nodes: processes,
            processesPerNode: 1,
            bytes,
            timesUs: [timeUs],
            intervalUs: [timeUs, timeUs],
          })
        }
  return measuredData(lines)
}
