import { type Communicator, local, run } from 'rankweave'
import { describe, expect, it } from 'vitest'
import { CommRuntime } from '../../../src/comm/comm-state.js'
import { ReportTriggers } from '../../../src/launch/processes/report-triggers.js'
import { worldLayout } from '../../../src/messages/process/world-layout.js'
import { stateOf } from '../../../src/world/diagnosis.js'
import { describeWorld } from '../../../src/world/diagnosis-text.js'
import { hostSession, type RunningWorld } from '../../../src/world/world.js'
import { ManualClock } from '../../support/manual-clock.js'
import { coded, codeOf } from '../../support/on-ranks.js'
import { onDemand } from '../../support/report-on-demand.js'

describe.skipIf(process.platform === 'win32')('a report on SIGUSR2 (no such signal on Windows)', () => {
  it('of a world in this thread: one line per call, missing ranks are named', async () => {
    const { report, ask } = onDemand()
    let text = ''
    const main = async (world: Communicator) => {
      const row = await world.split(world.rank % 2)
      if (world.rank === 6) {
        text = await ask()
        await world.send(1, 5, 3)
        for (let rank = 0; rank < 4; rank++) await world.send(rank, rank, 4)
      } else if (world.rank === 5) {
        await world.recv(6, 3)
      } else if (world.rank < 4) {
        await world.recv(6, 4)
      } else if (world.rank === 7) {
        return
      }
      if (world.rank % 2 === 0) await row.barrier()
    }
    const listeners = process.listenerCount('SIGUSR2')
    await run(main, { ranks: 8, processes: 3, report })
    expect(process.listenerCount('SIGUSR2')).toBe(listeners)
    const [head, counts, ...waits] = text.trimEnd().split('\n')
    expect(head).toBe('who waits for what, 8 ranks on 3 processes')
    expect(counts).toBe('  6 blocked, 1 running (rank 6), 1 finished (rank 7)')
    expect(waits).toEqual([
      expect.stringMatching(
        /^ {2}barrier\(\) #0 on communicator 0\.\d of 4 ranks: not called by ranks 0-1, 3 \(world ranks 0, 2, 6\); called by rank 2 \(world rank 4\)$/,
      ),
      '  ranks 0-3 wait in recv(source 6, tag 4) on the world',
      '  rank 5 waits in recv(source 6, tag 3) on the world',
    ])
  })

  it('a report, and that of a deadlock, name calls of survivors and who has not made them', async () => {
    const { report, ask } = onDemand()
    let text = ''
    const main = async (world: Communicator) => {
      if (world.rank !== 3) return world.agree(1)
      text = await ask()
      return world.recv(0)
    }
    await expect(run(main, { ranks: 4, processes: 2, report })).rejects.toEqual(
      coded(
        'ERR_DEADLOCK',
        expect.stringMatching(
          /: ranks 0-1 wait in agree\(\) #0 of the survivors\n.*: rank 2 waits in agree\(\) #0 of the survivors; rank 3 has not called it/,
        ),
      ),
    )
    expect(text).toContain(
      'agree() #0 of the survivors on the world of 4 ranks: not called by rank 3; called by ranks 0-2',
    )
  })
})

describe('a report after some seconds', () => {
  it('is written once, and not after the world has ended', async () => {
    const written: string[] = []
    const clock = new ManualClock()
    const options = { afterSeconds: 30, write: (text: string) => void written.push(text) }
    const triggers = new ReportTriggers(options, clock, () => 'the report')
    expect(clock.delays).toEqual([30_000])
    clock.pass()
    await Promise.resolve()
    expect(written).toEqual(['the report\n'])
    expect(clock.delays).toEqual([])
    triggers.stop()
    const ended = new ReportTriggers(options, clock, () => 'too late')
    ended.stop()
    expect(clock.delays).toEqual([])
    clock.pass()
    expect(written).toHaveLength(1)
  })

  it.each([
    { report: 1 },
    { report: { afterSeconds: -1 } },
    { report: { afterSeconds: '3' } },
    { report: { afterSeconds: Number.NaN } },
    { report: { onSignal: 'SIGKILL' } },
    { report: { onSignal: 'SIGNONE' } },
    { report: { write: 'stderr' } },
  ])('rejects %j', async (wrong) => {
    expect(await codeOf(run(() => 1, { ranks: 1, ...wrong } as never))).toBe('ERR_ARGUMENT')
  })
})

describe('describeWorld', () => {
  it('of 20,000 ranks is a few lines', async () => {
    const ranks = 20_000
    let text = ''
    const session = await local({ processes: 2 }).open()
    const layout = worldLayout(ranks, session.nodes)
    let running: RunningWorld
    const main = async (world: Communicator) => {
      if (world.rank % 4 === 0) await world.recv(world.rank + 1, 1)
      else if (world.rank % 4 === 1) await world.recv(0, 2)
      else if (world.rank < world.size - 1) await world.barrier()
      else {
        await new Promise((resolve) => setImmediate(resolve))
        text = describeWorld(layout, new Map(running.states().map((state) => [state.process, state])))
        world.abort('seen')
      }
    }
    const onStart = (world: RunningWorld) => {
      running = world
    }
    expect(await codeOf(hostSession(session, main, { ranks, onStart }))).toBe('ERR_WORLD_ABORTED')
    const lines = text.split('\n')
    expect(lines).toHaveLength(5)
    expect(lines[1]).toBe('  19999 blocked, 1 running (rank 19999), 0 finished')
    expect(lines[2]).toMatch(
      /barrier\(\) #0 on .* not called by ranks 0-1, 4-5, .*\d+ more; called by ranks 2-3, /,
    )
    expect(lines[3]).toBe('  ranks 0-19996 by 4 wait in recv(source rank + 1, tag 1) on the world')
    expect(lines[4]).toBe('  ranks 1-19997 by 4 wait in recv(source 0, tag 2) on the world')
  })

  it('counts the ranks of a process that did not answer as unknown', async () => {
    const layout = worldLayout(4, ['a', 'b'])
    const session = await local({ processes: 2 }).open()
    const [runtime] = session.hosted.map((fabric) => new CommRuntime(fabric, layout))
    const text = describeWorld(layout, new Map([[0, stateOf(runtime)]]), { lost: [] })
    expect(text).toContain('0 blocked, 2 running (ranks 0-1), 0 finished')
    expect(text).toContain('process 1 (ranks 2-3) does not answer')
    expect(describeWorld(layout, new Map([[0, stateOf(runtime)]]), { lost: [1] })).toContain(
      'process 1 (ranks 2-3) is lost',
    )
    await session.close()
  })
})
