import { expect, it } from 'vitest'
import { type MailboxDesign, mailboxDesigns } from '../../src/messages/process/matching-options.js'
import { expectConformance } from '../support/expect-conformance.js'
import { describeMpi, program, runJob } from '../support/mpi.js'
import { demanded, perTier } from '../support/soak.js'

describeMpi('fabric mpi', (mpi) => {
  const isMpich = mpi.name === 'MPICH'
  const designs = perTier<readonly MailboxDesign[]>({
    test: [],
    soak: [isMpich ? 'vector-list' : 'bins'],
    long: mailboxDesigns,
  })
  const processCounts = perTier({ test: [], soak: [isMpich ? 2 : 3], long: [1, 2, 3, 4] })

  it.each(processCounts)(
    'passes all cases on %i processes, with other matching queues, too',
    async (processes) => {
      const worlds = designs.map((matchingDesign) => ({ ranks: 5, matchingDesign }))
      const rounds = perTier({ test: 1, soak: 1, long: 3 })
      await expectConformance(mpi, processes, [{ ranks: 7, rounds }, ...worlds])
    },
  )

  // Blocking calls of MPICH spin, which takes four processes on two cores eight times as long.
  const count = isMpich ? demanded(600, 60) : demanded(2400, 240)
  it(`has the members, ranks and data of MPI's own communicators in ${count} random splits, grids and graphs`, async () => {
    const { code, stdout, stderr } = await runJob(mpi, 4, program('mpi-against.ts', '1', String(count)))
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: `${count} cases agree\n`, stderr: '' })
  })
})
