import { PassThrough } from 'node:stream'
import { setImmediate as turn } from 'node:timers/promises'
import type { Worker } from 'node:worker_threads'
import { expect, it } from 'vitest'
import { dropOutputOfBrokenStreams } from '../../../../src/launch/processes/output-streams.js'

it('warns of no leak, however many workers write', async () => {
  const warnings: Error[] = []
  const onWarning = (warning: Error) => warnings.push(warning)
  process.on('warning', onWarning)
  const most = process.stdout.getMaxListeners()
  const listeners = Array.from({ length: most + 1 }, () => () => {})
  process.stdout.setMaxListeners(0)
  for (const listener of listeners) process.stdout.on('unpipe', listener)
  process.stdout.setMaxListeners(most)
  const release = dropOutputOfBrokenStreams([
    { stdout: new PassThrough(), stderr: new PassThrough() } as unknown as Worker,
  ])
  await turn()
  release()
  for (const listener of listeners) process.stdout.off('unpipe', listener)
  process.off('warning', onWarning)
  expect(warnings).toEqual([])
  expect(process.stdout.getMaxListeners()).toBe(most)
})
