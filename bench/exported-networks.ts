import { fileURLToPath } from 'node:url'
import { algorithmOf } from '../src/collective/algorithms.js'
import type { ParticipantGrid } from '../src/collective/patterns/participant-grid.js'
import { scheduleOf } from '../src/collective/patterns/schedule-of.js'
import type { BuiltPrograms } from './build-programs.js'
import type { Case, Implementation, Suite } from './comparison.js'
import { bytesText } from './message-plans.js'
import { runWithTimeout } from './run-with-timeout.js'

const ranks = 16
const limitSeconds = 120
const fourNodes = fileURLToPath(new URL('four-nodes.sh', import.meta.url))
const launchVariable = '$FOUR_NODES_MPIRUN'

/** What MPI's count describes; in a run samples of plan and library in turn, and starts in a sample. */
const lengths = [
  { bytes: 2 ** 10, samples: 11, starts: 10 },
  { bytes: 2 ** 16, samples: 7, starts: 3 },
  { bytes: 2 ** 20, samples: 3, starts: 1 },
]

/** Four nodes in a line with four processes each, and a torus of which each node is a row. */
const line: ParticipantGrid = { dims: [4], wraps: [false], perNode: 4 }
const torus: ParticipantGrid = { dims: [4, 4], wraps: [true, true] }

const compared: readonly (readonly [string, ParticipantGrid])[] = [
  ['allgather-reordered', line],
  ['allgather-bucket', line],
  ['allgather-bucket:ports=2', line],
  ['allgather-bucket:ports=4', torus],
  ['allreduce-reordered', line],
  ['allreduce-bucket', line],
  ['allreduce-bucket:ports=4', torus],
  ['reduce-scatter-bucket', line],
  ['bcast-reordered', line],
  ['reduce-reordered', line],
]

/**
 * Algorithms along the dimensions of four nodes that TCP connects, and what Open MPI does by default: it does not know
 * the nodes there. A suite per collective, so that its programs take turns.
 */
export function networkSuites(built: BuiltPrograms): Suite[] {
  const all = compared.map(([text, grid]) => ({ text, grid, algorithm: algorithmOf(text) }))
  return [...new Set(all.map(({ algorithm }) => algorithm.collective))].map((collective) => {
    const sides = all
      .filter(({ algorithm }) => algorithm.collective === collective)
      .flatMap(({ text, grid }) => sidesOf(built, text, grid))
    return {
      name: `networks ${collective}`,
      runs: 5,
      implementations: sides.map(({ implementation }) => implementation),
      cases: sides.map(({ entry }) => entry),
    }
  })
}

function sidesOf(
  built: BuiltPrograms,
  text: string,
  grid: ParticipantGrid,
): readonly { readonly implementation: Implementation; readonly entry: Case }[] {
  const algorithm = algorithmOf(text)
  const schedule = scheduleOf(algorithm, { ranks, segments: algorithm.sections ?? 1, grid })
  let program: string | undefined
  return lengths.map(({ bytes, samples, starts }) => {
    const name = `${text} ${bytesText(bytes)}`
    const words = ['-b', bytes, '-n', samples, '-s', starts, '-j'].map(String)
    return {
      implementation: {
        name,
        how: `Open MPI on four nodes, exported ${name}, ${words.join(' ')}`,
        run: () => {
          program ??= built.exportedProgram('Open MPI', schedule)
          return onNodes([program, ...words])
        },
      },
      entry: {
        case: `${name}, ${ranks} processes on four nodes`,
        unit: 'us',
        ours: name,
        key: 'planUs',
        baselines: [name],
        baselineKey: 'libraryUs',
        isPaired: true,
        details: { ranks, bytes },
      },
    }
  })
}

function onNodes(words: readonly string[]) {
  const quoted = words.map((word) => `'${word}'`).join(' ')
  return runWithTimeout(fourNodes, [String(ranks), 'sh', '-c', `"${launchVariable}" ${quoted}`], limitSeconds)
}
