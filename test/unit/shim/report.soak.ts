import { expect, it } from 'vitest'
import { reportedCalls } from '../../support/reported-calls.js'
import { describeShim, right } from '../../support/shim.js'

/** What became of the blocking allgathers of each communicator. */
const gathersIn = (report: string) =>
  reportedCalls(report)
    .filter(({ name }) => name === 'MPI_Neighbor_allgather')
    .map(({ outcomes }) => outcomes)

describeShim('the report of the preloaded library', (shim) => {
  it('says that it is off', async () => {
    const ended = await shim.run(4, ['forms 3'], { RANKWEAVE_SHIM: 'off,report' }, [shim.tool('counting')])
    const counted = `${right('forms 3').stdout}counted 4 allgathers\n`
    expect(ended).toMatchObject({ code: 0, stdout: counted })
    expect(gathersIn(ended.stderr)).toEqual([{ 'left to MPI: the library is off': 4 }])
  })

  it('says which calls reach a tool that is preloaded before it', async () => {
    const tool = shim.tool('counting')
    const env = { RANKWEAVE_SHIM: 'always,report' }
    const ended = await shim.start(4, shim.caseCommand('forms 3'), env, [tool, shim.library])
    expect(ended.stdout).toBe(`${right('forms 3').stdout}counted 4 allgathers\n`)
    expect(gathersIn(ended.stderr)).toEqual([])
    expect(ended.stderr).toContain(`calls of MPI_Neighbor_allgather reach ${tool} first`)
    expect(ended.stderr).toMatch(/MPI_Neighbor_alltoall: 3 calls: 3 by plan/)
  })

  // In the first call of a trial, and while a plan is in use.
  it.each([
    [0, { 'left to MPI: buffers are in the memory of a device': 40 }],
    [10, { 'by plan': 40 }],
  ])('touches no memory of a device, from call %i on', async (first, outcomes) => {
    const fake = shim.tool('fake_cuda', 'libcuda.so.1')
    const env = { RANKWEAVE_SHIM: 'always,report', RANKWEAVE_SHIM_STRATEGY: 'routed' }
    const command = [shim.program('device'), fake, String(first)]
    const ended = await shim.start(4, command, env, [shim.library, fake])
    expect(ended).toMatchObject({ code: 0, stdout: 'right: 0 wrong calls\n' })
    expect(gathersIn(ended.stderr)).toEqual([outcomes])
  })
})
