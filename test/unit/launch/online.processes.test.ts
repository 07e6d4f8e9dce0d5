import { execFileSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { run } from 'rankweave'
import { expect, it } from 'vitest'
import { callFilesOf, disagreements, recordsByCall } from '../../support/call-folders.js'
import { compiledUrl } from '../../support/compiled.js'
import type { OnlineProgramArgs } from '../../support/online-calls.js'
import { refusal } from '../../support/refusal.js'
import { isSoak, perTier } from '../../support/soak.js'
import { temporaryFolder } from '../../support/temporary-folder.js'

const folder = temporaryFolder('online')
const calls = perTier({ test: 120, soak: 1000, long: 10_000 })
const ranks = perTier({ test: 8, soak: 32, long: 32 })

const worlds = [
  ['threads', perTier({ test: 3, soak: 8, long: 8 })],
  ['local', 32],
  ['websocket', 4],
] as const

it.each(isSoak ? worlds : worlds.slice(0, 1))(
  'calls on random sub-communicators that are tuned online take one setting on every member and are right on %s',
  async (fabric, processes) => {
    const online = join(folder(), fabric)
    const made = await run<number, OnlineProgramArgs>(compiledUrl('online-calls.ts'), {
      ...{ ranks, processes, fabric, tuning: { online, calls: 2 ** 20 }, args: { calls, seed: 5 } },
    })
    expect(made).toEqual(Array(ranks).fill(calls))
    const [file, ...others] = callFilesOf(online)
    expect(others).toEqual([])
    expect(disagreements(file)).toEqual([])
    expect(recordsByCall(file).size).toBeGreaterThan(calls / 4)
  },
)

it('a model that is a pipe without a writer is refused, not waited for', async () => {
  const online = join(folder(), 'piped')
  mkdirSync(online)
  execFileSync('mkfifo', [join(online, 'model.json')])
  const started = run<number, OnlineProgramArgs>(compiledUrl('online-calls.ts'), {
    ...{ ranks: 2, processes: 2, fabric: 'threads', tuning: { online }, args: { calls: 1, seed: 5 } },
  })
  await expect(started).rejects.toMatchObject(refusal('ERR_FILE', 'expected a file, got a pipe or device'))
})
