import { threads } from 'rankweave'
import { describe, expect, it } from 'vitest'
import { runThreads } from '../../../src/launch/threads-launcher.js'
import { compiledUrl } from '../../support/compiled.js'
import { ManualClock } from '../../support/manual-clock.js'
import { onDemand } from '../../support/report-on-demand.js'
import type { Hang } from '../../support/threads-hang.js'

const hang = compiledUrl('threads-hang.ts')

describe.skipIf(process.platform === 'win32')('a report on SIGUSR2 (no such signal on Windows)', () => {
  it('of a world on threads: every process is queried', async () => {
    const { report, ask } = onDemand()
    const clock = new ManualClock()
    const channel = new BroadcastChannel('rankweave-test-diagnosis')
    const there = new Promise((resolve) => {
      channel.onmessage = resolve
    })
    const args: Hang = { last: 'channel', channel: channel.name }
    const world = runThreads<number>(hang, threads({ processes: 2 }), { ranks: 6, args }, { report, clock })
    await there
    let text = await ask()
    // The others may not have come to their receive yet, or not out of the barrier.
    while (!text.includes('5 blocked') || text.includes('barrier()')) text = await ask()
    expect(text.trimEnd().split('\n')).toEqual([
      'who waits for what, 6 ranks on 2 processes',
      '  5 blocked, 1 running (rank 5), 0 finished',
      '  ranks 0-4 wait in recv(source 5, tag 7) on the world',
    ])
    channel.postMessage('go')
    channel.close()
    expect(await world).toEqual([0, 1, 2, 3, 4, 5])
    expect(clock.delays).toEqual([])
  })

  it('names a process that does not answer', async () => {
    const { report, ask } = onDemand()
    const clock = new ManualClock()
    const channel = new BroadcastChannel('rankweave-test-stuck')
    const there = new Promise((resolve) => {
      channel.onmessage = resolve
    })
    const word = new Int32Array(new SharedArrayBuffer(4))
    const args: Hang = { last: 'block', channel: channel.name, word }
    const world = runThreads<number>(hang, threads({ processes: 1 }), { ranks: 3, args }, { report, clock })
    await there
    channel.close()
    const text = ask()
    while (clock.delays.length === 0) await new Promise((resolve) => setImmediate(resolve))
    clock.pass()
    expect(await text).toContain('process 0 (ranks 0-2) does not answer: it runs without awaiting anything')
    Atomics.store(word, 0, 1)
    Atomics.notify(word, 0)
    expect(await world).toEqual([0, 1, 2])
  })
})

describe('a report after some seconds', () => {
  it('that is due at once reports that the world is being started', async () => {
    const clock = new ManualClock()
    const text = new Promise<string>((resolve) => {
      const channel = new BroadcastChannel('rankweave-test-loading')
      const args: Hang = { last: 'channel', channel: channel.name }
      const report = { afterSeconds: 0, write: resolve }
      const world = runThreads<number>(hang, threads({ processes: 2 }), { ranks: 2, args }, { report, clock })
      channel.onmessage = () => {
        channel.postMessage('go')
        channel.close()
      }
      // First what is due, then the patience with those that are asked.
      clock.pass()
      clock.pass()
      void world
    })
    expect(await text).toContain('process 0 (rank 0) does not answer while it loads the program')
  })
})
