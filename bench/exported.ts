import { parseAlgorithm, segmentsOf } from '../src/collective/algorithm-text.js'
import { type TunedSetting, textOfTuned, tunedParameters } from '../src/collective/open-mpi-settings.js'
import { scheduleOf } from '../src/collective/patterns/schedule-of.js'
import type { Schedule } from '../src/schedule/ir.js'
import type { Bench, BenchOptions, Figure } from './bench.js'
import { BuiltPrograms } from './build-programs.js'
import { type Case, figuresOf, type Implementation, type Suite } from './comparison.js'
import { networkSuites } from './exported-networks.js'
import { bytesText } from './message-plans.js'

const ranks = 16
/** Bytes, of 16 elements at least: with fewer than ranks Open MPI takes other algorithms than its settings say. */
const sizes = [64, 2 ** 16]
const rounds = 7
/** In a run of the program: samples of the plan and of the library in turn, and starts in a sample. */
const [samples, starts] = [11, 10]
const limitSeconds = 120

/** One for each algorithm that is compared. */
export const comparedSettings: readonly TunedSetting[] = [
  { collective: 'allreduce', algorithm: 'recursive_doubling' },
  { collective: 'allreduce', algorithm: 'ring' },
  { collective: 'allreduce', algorithm: 'rabenseifner' },
  { collective: 'bcast', algorithm: 'binomial' },
  { collective: 'bcast', algorithm: 'knomial', radix: 4 },
  { collective: 'bcast', algorithm: 'chain', fanout: 4, segmentBytes: 2 ** 13 },
  { collective: 'bcast', algorithm: 'scatter_allgather' },
  { collective: 'allgather', algorithm: 'bruck' },
  { collective: 'allgather', algorithm: 'ring' },
  { collective: 'allgather', algorithm: 'neighbor' },
  { collective: 'alltoall', algorithm: 'pairwise' },
  { collective: 'alltoall', algorithm: 'modified_bruck' },
]

/**
 * Exported C programs on Open MPI, which its settings have carry out its own call by the algorithm of the same
 * name; and on four nodes, along their dimensions, compared with what it does by default. A program compares both
 * results with what they must be before it times them in turn.
 */
export const exportedBench: Bench = {
  name: 'exported',
  question: 'How fast are exported C programs, compared with the same algorithms of Open MPI?',
  async *measure(options: BenchOptions = {}): AsyncGenerator<Figure> {
    const built = new BuiltPrograms(['Open MPI'])
    try {
      yield* figuresOf([...suites(built), ...networkSuites(built)], options)
    } finally {
      built.close()
    }
  },
}

/** A suite per collective, so that its programs take turns. */
function suites(built: BuiltPrograms): Suite[] {
  const collectives = [...new Set(comparedSettings.map(({ collective }) => collective))]
  return collectives.map((collective) => {
    const compared = comparedSettings
      .filter((setting) => setting.collective === collective)
      .flatMap((setting) => sizes.map((bytes) => comparedWith(built, setting, bytes)))
    return {
      name: collective,
      runs: rounds,
      implementations: compared.map(({ implementation }) => implementation),
      cases: compared.map(({ entry }) => entry),
    }
  })
}

function comparedWith(
  built: BuiltPrograms,
  setting: TunedSetting,
  bytes: number,
): { readonly implementation: Implementation; readonly entry: Case } {
  const text = textOfTuned(setting)
  const name = `${text} ${bytesText(bytes)}`
  const parameters = tunedParameters(setting)
  const words = ['-b', bytes, '-n', samples, '-s', starts, '-j'].map(String)
  const flags = Object.entries(parameters).flatMap(([key, value]) => ['--mca', key, value])
  const exported = { schedule: scheduleOfText(text, ranks, bytes), words, flags }
  return {
    implementation: built.inExportedC(name, 'Open MPI', exported, limitSeconds),
    entry: {
      case: `${name}, ${ranks} processes, vs ${setting.algorithm} of Open MPI`,
      unit: 'us',
      ours: name,
      key: 'planUs',
      baselines: [name],
      baselineKey: 'libraryUs',
      isPaired: true,
      details: { ranks, bytes, ...parameters },
    },
  }
}

/** @param bytes from which the number of segments follows */
export function scheduleOfText(text: string, ranks: number, bytes: number): Schedule {
  const setting = parseAlgorithm(text)
  const segments = segmentsOf(setting, bytes, ranks) ?? 1
  return scheduleOf(setting.algorithm, { ranks, segments })
}
