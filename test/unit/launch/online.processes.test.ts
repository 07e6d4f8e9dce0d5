import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { run } from 'rankweave'
import { afterAll, describe, expect, it } from 'vitest'
import { callFilesOf, disagreements, recordsByCall } from '../../support/call-folders.js'
import { compiled } from '../../support/compiled.js'
import { describeEitherMpi, rankweave, runJob } from '../../support/mpi.js'
import type { OnlineProgramArgs } from '../../support/online-calls.js'
import { daily, demanded } from '../../support/soak.js'

const root = mkdtempSync(join(tmpdir(), 'rankweave-online-'))
afterAll(() => rmSync(root, { recursive: true }))

const calls = demanded(10_000, 200)
const ranks = 32
const worlds = [
  ['threads', 8],
  ['local', 32],
  ['websocket', 4],
] as const

function expectAgreed(folder: string): void {
  const [file, ...others] = callFilesOf(folder)
  expect(others).toEqual([])
  expect(disagreements(file)).toEqual([])
  expect(recordsByCall(file).size).toBeGreaterThan(calls / 4)
}

describe('calls on random sub-communicators that are tuned online', () => {
  it.each(daily(worlds, 3))(
    'take one setting on every member and are right on %s',
    async (fabric, processes) => {
      const online = join(root, fabric)
      const made = await run<number, OnlineProgramArgs>(pathToFileURL(compiled('online-calls.ts')), {
        ...{ ranks, processes, fabric, tuning: { online, calls: 2 ** 20 }, args: { calls, seed: 5 } },
      })
      expect(made).toEqual(Array(ranks).fill(calls))
      expectAgreed(online)
    },
  )
})

it('a model that is a pipe without a writer is refused, not waited for', async () => {
  const online = join(root, 'piped')
  mkdirSync(online)
  execFileSync('mkfifo', [join(online, 'model.json')])
  const started = run<number, OnlineProgramArgs>(pathToFileURL(compiled('online-calls.ts')), {
    ...{ ranks: 2, processes: 2, fabric: 'threads', tuning: { online }, args: { calls: 1, seed: 5 } },
  })
  await expect(started).rejects.toMatchObject({
    code: 'ERR_FILE',
    message: expect.stringContaining('expected a file, got a pipe or device'),
  })
})

describeEitherMpi('calls that are tuned online on mpi', (mpi) => {
  it('take one setting on every member and are right', async () => {
    const online = join(root, mpi.name)
    const program = rankweave('run', compiled('online-job.ts'), '-n', String(ranks), '--fabric', 'mpi')
    const { code, stderr } = await runJob(mpi, 4, [...program, '--tuning', `online:${online}`, String(calls)])
    expect([code, stderr]).toEqual([0, expect.any(String)])
    const [file] = callFilesOf(online)
    expect(file.source.name).toBe('mpi')
    expect(disagreements(file)).toEqual([])
    expect(recordsByCall(file).size).toBeGreaterThan(100)
  })
})
