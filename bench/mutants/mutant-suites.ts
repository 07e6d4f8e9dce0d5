/** Sources that are mutated together, and the tests that must notice: those that run first find most. */
export interface MutantSuite {
  /** A folder of src/, without those in it. */
  readonly folder: string
  readonly tests: readonly string[]
  /** Slower ones, for mutants that the others let pass. */
  readonly further: readonly string[]
}

const terms = ['test/unit/schedule/verify', 'test/property/schedule-terms.test.ts']

const inFolder = ['builder', 'message-pairs', 'operation-log'].map((name) => `test/unit/schedule/${name}`)

const algorithms = ['test/unit/collective']

export const mutantSuites: readonly MutantSuite[] = [
  {
    folder: 'schedule',
    tests: [...inFolder, ...terms],
    further: ['test/unit/collective', 'test/unit/schedule/lower', 'test/property/schedule-lower.test.ts'],
  },
  { folder: 'schedule/verify', tests: terms, further: ['test/unit/collective'] },
  {
    folder: 'schedule/lower',
    tests: [
      'test/unit/schedule/lower',
      'test/property/value-memory.test.ts',
      'test/property/schedule-lower.test.ts',
    ],
    further: [
      'test/unit/calls/program',
      'test/unit/calls/collectives',
      'test/unit/topology-communicator/execute',
    ],
  },
  { folder: 'schedule/file', tests: ['test/unit/schedule/file'], further: ['test/unit/cli/commands'] },
  {
    folder: 'collective/patterns',
    tests: algorithms,
    further: ['test/property/collective-algorithms.test.ts'],
  },
  { folder: 'collective', tests: algorithms, further: ['test/property/collective-algorithms.test.ts'] },
  {
    folder: 'calls/program',
    tests: ['test/unit/calls/program', 'test/unit/calls/collectives'],
    further: ['test/unit/topology-communicator', 'test/property/collective-algorithms.test.ts'],
  },
]
