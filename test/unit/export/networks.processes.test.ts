import { expect, it } from 'vitest'
import { algorithmOf } from '../../../src/collective/algorithms.js'
import type { ParticipantGrid } from '../../../src/collective/patterns/participant-grid.js'
import { scheduleOf } from '../../../src/collective/patterns/schedule-size.js'
import { rootedCollectives, upTo } from '../../../src/schedule/specification.js'
import { compileExported } from '../../support/exported-c.js'
import { describeMpi } from '../../support/mpi.js'
import { compilerOf } from '../../support/mpi-collectives.js'
import { temporaryFolder } from '../../support/temporary-folder.js'

const ranks = 12
const wrapped: ParticipantGrid = { dims: [2, 3, 2], wraps: [true, true, true] }
const nodes: ParticipantGrid = { dims: [3], wraps: [false], perNode: 4, place: upTo(ranks).reverse() }

const cases: readonly (readonly [string, ParticipantGrid])[] = [
  ['allgather-bucket:ports=3,shuffle=1', wrapped],
  ['allgather-reordered:ports=2', nodes],
  ['allreduce-bucket:ports=6', wrapped],
  ['reduce-scatter-reordered:order=path,shuffle=1', wrapped],
  ['reduce-scatter-bucket:ports=3,shuffle=1,doubling=1', wrapped],
  ['bcast-reordered', nodes],
  ['reduce-bucket:ports=2', nodes],
]

describeMpi('an exported C program of a collective along the dimensions of a grid', (mpi) => {
  const mpicc = compilerOf(mpi)
  const folder = temporaryFolder('export')

  it.skipIf(mpicc === null).each(cases)('gives the data of the specification: %s', async (text, grid) => {
    const algorithm = algorithmOf(text)
    const { collective, sections = 1 } = algorithm
    const root = rootedCollectives.includes(collective) ? 5 : 0
    const schedule = scheduleOf(algorithm, { ranks, root, segments: sections, grid })
    const run = compileExported(mpicc!, mpi, folder(), schedule)
    // Fewer bytes than there are parts, and long messages of unequal parts.
    for (const bytes of ['4', '100004']) {
      const { code, stderr } = await run('-b', bytes, '-n', '1', '-s', '2')
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    }
  })
})
