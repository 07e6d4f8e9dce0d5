import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { beforeAll, describe, expect, it } from 'vitest'
import { compileProfiler, readProfile, readSeconds, trafficOf } from '../../src/profile/profile.js'
import { describeShim, sourceOf } from '../support/shim.js'

const ranks = 4

describeShim('a preloaded profiler', (shim) => {
  let profiler = ''
  const file = () => shim.path('profile.json')
  beforeAll(() => {
    profiler = compileProfiler(shim.path(''), shim.mpicc)
  })

  const profileOf = async (command: readonly string[], preloaded = [profiler]) => {
    const ended = await shim.start(
      ranks,
      command,
      { RANKWEAVE_PROFILE: `profile:${file()}`, RANKWEAVE_SHIM: 'always' },
      preloaded,
    )
    expect(ended).toMatchObject({ code: 0, stderr: '' })
    return readProfile(readFileSync(file(), 'utf8'), file())
  }

  it('counts what a program sends by every form, before the library that runs plans as without it', async () => {
    for (const preloaded of [[profiler], [profiler, shim.library]]) {
      const profile = await profileOf([shim.program('traffic', '-pthread')], preloaded)
      expect(profile).toMatchObject({ ranks, nodes: { length: 1 } })
      expect(profile.mpi).toMatch(new RegExp(`^${shim.mpi.name} \\d`))
      for (const process of profile.processes) {
        const { rank, seconds, inMpi, calls, sends, blocks, sizes, collectives, reorders } = process
        const [next, before, partner] = [(rank + 1) % ranks, (rank + ranks - 1) % ranks, rank ^ 1]
        // Four modes with 88 bytes in four messages, three exchanges in pairs, and those of three threads.
        const expected = new Map([[next, [79, 712]]])
        for (const [peer, bytes] of [
          [before, 300],
          [partner, 400],
        ] as const) {
          const [messages, sum] = expected.get(peer) ?? [0, 0]
          expected.set(peer, [messages + 1, sum + bytes])
        }
        expect(new Map(sends.map(([peer, ...amounts]) => [peer, amounts]))).toEqual(expected)
        expect([blocks, reorders]).toEqual([[[next, 5, 280]], 1])
        expect(sizes).toEqual([
          ...[[-1, 1, 0] as const, [0, 60, 60] as const, [3, 4, 32] as const, [4, 4, 64] as const],
          ...[[5, 8, 256] as const, [6, 1, 100] as const, [7, 1, 200] as const, [8, 2, 700] as const],
        ])
        expect(inMpi).toBeLessThanOrEqual(seconds)
        const named = new Map(calls.map(({ name, calls, bytes }) => [name, [calls, bytes]]))
        for (const [name, ...counts] of [
          ['MPI_Send', 2, 8],
          ['MPI_Isend', 61, 76],
          ['MPI_Irsend', 1, 16],
          ['MPI_Start', 4, 128],
          ['MPI_Startall', 4, 128],
          ['MPI_Sendrecv', 4, 800],
          ['MPI_Sendrecv_replace', 1, 200],
          ['MPI_Recv', 60, 0],
          ['MPI_Comm_split', 2, 0],
        ] as const)
          expect([name, named.get(name)]).toEqual([name, counts])
        const collective = (name: string) =>
          collectives
            .filter((one) => one.name === name)
            .map(({ ranks, bytes, calls, zeros, counts }) => [ranks, bytes, calls, zeros, counts])
            .sort(([, a], [, b]) => a - b)
        expect(collective('MPI_Allreduce')).toEqual([[ranks, 32, 3, 0, 0]])
        expect(collective('MPI_Bcast')).toEqual([
          [ranks, 8, 1, 0, 0],
          [ranks, 16, 1, 0, 0],
        ])
        for (const name of ['MPI_Alltoallv', 'MPI_Ialltoallv', 'MPI_Alltoallw'])
          expect([name, collective(name)]).toEqual([name, [[ranks, 80, 1, 3, 4]]])
        expect(collective('MPI_Neighbor_allgather')).toEqual([[ranks, 20, 1, 0, 0]])
      }
      expect(trafficOf(profile).edges[0]).toEqual({ source: 0, destination: 1, messages: 85, bytes: 1392 })
    }
  })

  it('measures only the time of the slowest process in the mode time', async () => {
    const times = shim.path('times.json')
    const ended = await shim.start(
      2,
      [shim.program('traffic', '-pthread')],
      { RANKWEAVE_PROFILE: `time:${times}` },
      [profiler],
    )
    expect(ended).toMatchObject({ code: 0, stderr: '' })
    expect(readSeconds(readFileSync(times, 'utf8'), times)).toBeGreaterThan(0)
  })

  it('reports a mode that it does not know, and a file that it cannot write, once', async () => {
    for (const [setting, message] of [
      ['profiles', 'expected RANKWEAVE_PROFILE=profile:FILE or time:FILE, got profiles'],
      ['profile:/nowhere/at/all', 'cannot write /nowhere/at/all: No such file or directory'],
    ]) {
      const env = { RANKWEAVE_PROFILE: setting }
      const { code, stderr } = await shim.start(2, [shim.program('traffic', '-pthread')], env, [profiler])
      expect(code).toBe(0)
      expect(stderr).toContain(message)
      expect(stderr.match(/rankweave profile/g)).toHaveLength(1)
    }
  })

  const mpifort = shim.mpi.mpirun.replace('mpirun', 'mpifort')
  const hasFortran = spawnSync(mpifort, ['--version'], { stdio: 'ignore' }).status === 0
  describe.skipIf(!hasFortran).each(['WITH_MPIF', 'WITH_MODULE', 'WITH_F08'])('in Fortran, %s', (define) => {
    it('counts what a program sends', async () => {
      const program = shim.path(`traffic-${define}`)
      const flags = ['-O1', `-D${define}`, '-fallow-argument-mismatch', '-w', '-J', shim.path('')]
      if (!existsSync(program))
        execFileSync(mpifort, [...flags, '-o', program, sourceOf('traffic.F90')], { stdio: 'inherit' })
      const { processes } = await profileOf([program])
      for (const { rank, sends, blocks, calls, collectives } of processes) {
        const next = (rank + 1) % ranks
        expect(sends).toEqual([[next, 11, 184]])
        expect(blocks).toEqual([[next, 1, 40]])
        const names = ['MPI_Wait', 'MPI_Waitall', 'MPI_Test', 'MPI_Startall', 'MPI_Barrier']
        const counted = names.map((name) => calls.find((call) => call.name === name)?.calls)
        expect(counted).toEqual([3, 7, 1, 2, 1])
        expect(collectives.find(({ name }) => name === 'MPI_Allreduce')).toMatchObject({
          bytes: 48,
          calls: 2,
        })
      }
    })
  })
})
