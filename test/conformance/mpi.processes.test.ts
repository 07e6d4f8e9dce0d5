import { it } from 'vitest'
import { expectConformance } from '../support/expect-conformance.js'
import { describeMpi } from '../support/mpi.js'

describeMpi('one job of the command', (mpi) => {
  it('passes all cases of the fabric, and some of worlds', () => expectConformance(mpi, 2, 'small'))
})
