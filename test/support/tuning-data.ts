import type { Collective } from '../../src/schedule/specification.js'
import { type MeasuredData, measuredData } from '../../src/tuning/measured/measured-data.js'
import type { Measurement } from '../../src/tuning/measured/measurement.js'
import type { TuningSetting } from '../../src/tuning/settings/setting.js'

/** A measurement with one time, of a `bcast-linear` of 8 B on 1 x 2 processes unless given. */
export function measurementOf({
  timeUs = 10,
  ...given
}: Partial<Measurement> & { readonly timeUs?: number } = {}): Measurement {
  return {
    version: 1,
    source: { kind: 'simulator', name: 'loggp', machine: 'cluster:nodes=4' },
    collective: 'bcast',
    algorithm: 'bcast-linear',
    parameters: {},
    nodes: 1,
    processesPerNode: 2,
    bytes: 8,
    timesUs: [timeUs],
    intervalUs: [timeUs, timeUs],
    ...given,
  }
}

/** Settings `NAME-a`, `NAME-b`... of a collective. */
export function settingsOf(count: number, collective: Collective = 'bcast'): TuningSetting[] {
  return Array.from({ length: count }, (_, i) => ({
    collective,
    algorithm: `${collective}-${String.fromCharCode(97 + i)}`,
    parameters: {},
  }))
}

/** A grid on which the setting that `best` names takes 1 us and every other one 2 us. One process per node. */
export function gridData(
  processes: readonly number[],
  bytes: readonly number[],
  count: number,
  best: (processes: number, bytes: number) => number,
  collective: Collective = 'bcast',
): MeasuredData {
  const settings = settingsOf(count, collective)
  return measuredData(
    processes.flatMap((nodes) =>
      bytes.flatMap((size) =>
        settings.map((setting, i) =>
          measurementOf({
            ...setting,
            nodes,
            processesPerNode: 1,
            bytes: size,
            timeUs: best(nodes, size) === i ? 1 : 2,
          }),
        ),
      ),
    ),
  )
}

/** 1, 2, 4... */
export function powersOfTwo(count: number): number[] {
  return Array.from({ length: count }, (_, i) => 2 ** i)
}

/** `first` to `last`. */
export function integersTo(last: number, first = 1): number[] {
  return Array.from({ length: last - first + 1 }, (_, i) => first + i)
}
