import { afterEach, describe, expect, it, vi } from 'vitest'
import type { Communicator } from '../../../src/handles/communicator.js'
import { run } from '../../../src/launch/run.js'
import { coded } from '../../support/on-ranks.js'

const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
afterEach(() => warn.mockClear())

/** Rank 0 sends with another tag than rank 1 receives with; neither awaits its call. */
function main(world: Communicator): number {
  if (world.rank === 0) void world.send('hello', 1, 7)
  if (world.rank === 1) void world.recv(0, 8)
  if (world.rank === 2) void world.barrier()
  return world.rank
}

const left = [
  'returned, but messages or calls were left: is an await missing?',
  'rank 1 has a message that no receive took on the world: source 0, tag 7',
  'rank 1 waits in recv(source 0, tag 8) on the world',
  'the world of 3 ranks: rank 2 waits in barrier() #0',
]

describe.each([1, 2, 3])('what ranks on %i processes leave when all have returned', (processes) => {
  it('is a warning', async () => {
    expect(await run(main, { ranks: 3, processes })).toEqual([0, 1, 2])
    const [[text, options]] = warn.mock.calls as unknown as [[string, object]]
    for (const line of left) expect(text).toContain(line)
    expect(text).toContain('run with --diagnose')
    expect([warn.mock.calls.length, options]).toEqual([
      1,
      { type: 'RankweaveWarning', code: 'RANKWEAVE_UNFINISHED' },
    ])
  })

  it('is an error that names lines with diagnose', async () => {
    const world = run(main, { ranks: 3, processes, diagnose: true })
    await expect(world).rejects.toMatchObject(coded('ERR_UNFINISHED', expect.stringContaining(left[1])))
    await expect(world).rejects.toMatchObject({
      message: expect.stringMatching(
        /recv\(source 0, tag 8\) on the world; called at \S+unfinished\.test\.ts:/,
      ),
      details: { messages: 1, receives: 1, collectives: 1 },
    })
    expect(warn).not.toHaveBeenCalled()
  })
})

it('is nothing for calls that have ended, awaited or not', async () => {
  const all = (world: Communicator) => {
    void world.send(world.rank, (world.rank + 1) % world.size)
    void world.barrier()
    return world.recv().then(({ data }) => data)
  }
  expect(await run(all, { ranks: 4, processes: 2 })).toEqual([3, 0, 1, 2])
  expect(warn).not.toHaveBeenCalled()
})
