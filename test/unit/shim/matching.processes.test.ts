import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, it } from 'vitest'
import { readCallRecords } from '../../../src/shim/matching-calls.js'
import { describeEitherMpi } from '../../support/mpi.js'
import { compilerOf } from '../../support/mpi-collectives.js'
import { matchingIn, operationWords, otherMatchesOf } from '../../support/recorded-calls.js'
import { compileProgram, compileShim, runPreloaded } from '../../support/shim.js'
import { temporaryFolder } from '../../support/temporary-folder.js'

const messages = 8
const upTo = (count: number) => Array.from({ length: count }, (_, i) => i)
const done = { code: 0, stdout: 'done\n', stderr: '' }

describeEitherMpi('matching of an MPI program with the preloaded library', (mpi) => {
  const mpicc = compilerOf(mpi)
  const folder = temporaryFolder('matching')
  const skipped = it.skipIf(mpicc === null)
  let library: string
  let program: string

  beforeAll(() => {
    if (mpicc === null) return
    library = compileShim(folder(), mpicc).library
    program = compileProgram(folder(), mpicc, 'matching', ['-pthread'])
  })

  const pathOf = (name: string) => join(folder(), name)
  const start = (kind: string, name = kind, env: Readonly<Record<string, string>> = {}, processes = 2) =>
    runPreloaded(mpi, processes, library, [program, kind], {
      RANKWEAVE_SHIM: `matching:${pathOf(name)}`,
      ...env,
    })

  async function wordsOf(kind: string, env: Readonly<Record<string, string>> = {}): Promise<string[]> {
    expect(await start(kind, kind, env)).toEqual(done)
    const matching = matchingIn(pathOf(kind), 2)
    expect(matching).toMatchObject({ isBounded: false, lostMessages: 0, leftOut: 0 })
    expect(otherMatchesOf(matching, 0)).toBe(0)
    const { header, isEnded, operations } = matching.process(0)
    expect({ processes: header.processes, rank: header.rank, isEnded }).toEqual({
      ...{ processes: 2, rank: 0, isEnded: true },
    })
    return operationWords(operations)
  }

  const inOrder = [
    ...upTo(messages).map((tag) => `arrive 0:1/${tag}`),
    ...upTo(messages).map((i) => `post 0:1/${messages - 1 - i}`),
    ...upTo(messages).map((i) => `post 0:1/${2 * messages - 1 - i}`),
    ...upTo(messages).map((i) => `arrive 0:1/${messages + i}`),
  ]

  skipped('has messages that wait for receives, and receives that wait for messages', async () => {
    expect(await wordsOf('order')).toEqual(inOrder)
  })

  skipped('has a number of the run, which another run has not', async () => {
    const runs: string[] = []
    for (const name of ['run', 'another-run']) {
      expect(await start('order', name)).toEqual(done)
      const [first, second] = [0, 1].map((rank) => {
        const file = join(pathOf(name), `calls-${rank}.bin`)
        return readCallRecords(file, readFileSync(file)).run
      })
      expect(second).toBe(first)
      runs.push(first)
    }
    expect(runs[1]).not.toBe(runs[0])
  })

  skipped('is the same where clocks of nodes are seconds apart', async () => {
    const apart = { RANKWEAVE_SHIM_CORES: '1', RANKWEAVE_SHIM_MATCHING_SKEW_US: '5000000' }
    expect(await wordsOf('order', apart)).toEqual(inOrder)
  })

  skipped('has receives that every call may complete', async () => {
    expect(await wordsOf('completions')).toEqual([
      ...upTo(messages).map(() => 'post 0:*/*'),
      ...upTo(messages).map((tag) => `arrive 0:1/${tag}`),
    ])
  })

  skipped('has probes of each kind, and a receive that is cancelled', async () => {
    expect(await wordsOf('probes')).toEqual([
      ...upTo(messages).map((tag) => `arrive 0:1/${tag}`),
      ...[
        'probe 0:1/3',
        'probe 0:*/*',
        'probe 0:1/99',
        'post 0:1/2',
        'mprobe 0:*/1',
        'post 0:1/100',
        'cancel 1',
      ],
      ...[0, 3, 4, 5, 6, 7].map((tag) => `post 0:1/${tag}`),
    ])
  })

  skipped(
    'has communicators with numbers, also those of the same members, and persistent requests',
    async () => {
      const words = await wordsOf('communicators')
      expect(words).toEqual([
        ...['arrive 3:0/1', 'arrive 1:1/0', 'post 1:1/0', 'post 3:0/1', 'post 2:0/5', 'arrive 2:0/5'],
        ...upTo(3).flatMap(() => ['post 2:0/6', 'arrive 2:0/6']),
        ...['arrive 1:1/7', 'post 1:1/7'],
      ])
      const { header } = matchingIn(pathOf('communicators'), 2).process(0)
      expect([...(header.communicatorSizes ?? [])]).toEqual([[2, 1]])
    },
  )

  skipped('has all operations of several threads', async () => {
    expect(await start('threads')).toEqual(done)
    const matching = matchingIn(pathOf('threads'), 2)
    for (const rank of [0, 1]) {
      const kinds = [...matching.process(rank).operations].map(({ kind }) => kind)
      expect(kinds.filter((kind) => kind === 'post')).toHaveLength(600)
      expect(kinds.filter((kind) => kind === 'arrive')).toHaveLength(600)
    }
  })

  skipped('ends at its bound, alike in all processes', async () => {
    expect(await start('order', 'bound', { RANKWEAVE_SHIM_MATCHING_OPERATIONS: '10' })).toEqual(done)
    const matching = matchingIn(pathOf('bound'), 2)
    expect(matching.isBounded).toBe(true)
    // Rank 0 posts eight and two more receives, before rank 1 sends more.
    expect(operationWords(matching.process(0).operations)).toEqual(inOrder.slice(0, 18))
  })

  skipped.each(['killed', 'aborted'])('is whole up to the end where a process is %s', async (kind) => {
    const ended = await start(kind)
    expect(ended.code).not.toBe(0)
    const matching = matchingIn(pathOf(kind), 2)
    expect(matching.process(1).isEnded).toBe(false)
    expect(operationWords(matching.process(0).operations).slice(0, inOrder.length)).toEqual(inOrder)
  })

  skipped('is recorded in no process if one of them does not say so', async () => {
    const others = `test "$\{OMPI_COMM_WORLD_RANK:-$PMI_RANK}" = 1 && unset RANKWEAVE_SHIM; exec ${program} order`
    const command = ['sh', '-c', others]
    const env = { RANKWEAVE_SHIM: `matching:${pathOf('partly')}` }
    expect(await runPreloaded(mpi, 2, library, command, env)).toEqual(done)
    expect(existsSync(pathOf('partly'))).toBe(false)
  })

  skipped('says once per process that the folder cannot be made, and the program runs', async () => {
    const env = { RANKWEAVE_SHIM: `matching:${program}/inside` }
    const { code, stdout, stderr } = await runPreloaded(mpi, 1, library, [program, 'none'], env)
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'done\n' })
    expect(stderr).toBe(
      `rankweave shim: matching: rank 0 stops recording: ${program}/inside/calls-0.bin: Not a directory\n`,
    )
  })

  skipped('comes with the lengths of queues that MPI offers', async () => {
    const name = 'sampled'
    expect(await start('order', name, { RANKWEAVE_SHIM_MATCHING_SAMPLE_MS: '0.001' })).toEqual(done)
    const sampled = JSON.parse(readFileSync(join(pathOf(name), 'queues-0.json'), 'utf8'))
    const { format, version, rank, offered, missed } = sampled
    expect({ format, version, rank, offered, missed }).toEqual({
      ...{ format: 'rankweave-queues', version: 1, rank: 0, offered: mpi.name === 'Open MPI', missed: 0 },
    })
    const longest = (column: number) =>
      Math.max(0, ...sampled.samples.map((sample: readonly number[]) => sample[column]))
    if (sampled.offered) {
      // With messages of barriers, and before the last receive of a queue.
      expect(longest(2)).toBeGreaterThanOrEqual(messages)
      expect(longest(3)).toBeGreaterThanOrEqual(messages - 1)
    } else expect(sampled.samples).toEqual([])
  })
})
