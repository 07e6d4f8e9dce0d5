import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { readCallRecords } from '../../../src/shim/recorded-matching.js'
import { matchingIn, operationWords } from '../../support/recorded-calls.js'
import { describeShim, right } from '../../support/shim.js'

const upTo = (count: number) => Array.from({ length: count }, (_, i) => i)

describeShim('matching of an MPI program with the preloaded library', (shim) => {
  const start = (kind: string, name = kind, env: Readonly<Record<string, string>> = {}) =>
    shim.run(2, [`matching ${kind}`], { RANKWEAVE_SHIM: `matching:${shim.path(name)}`, ...env })
  const done = (kind: string) => ({ ...right(`matching ${kind}`), stderr: '' })

  const inOrder = [
    ...upTo(8).map((tag) => `arrive 0:1/${tag}`),
    ...upTo(8).map((i) => `post 0:1/${7 - i}`),
    ...upTo(8).map((i) => `post 0:1/${15 - i}`),
    ...upTo(8).map((i) => `arrive 0:1/${8 + i}`),
  ]

  it('has a number of the run, which another run has not', async () => {
    const runs: string[] = []
    for (const name of ['run', 'another-run']) {
      expect(await start('order', name)).toEqual(done('order'))
      const [first, second] = [0, 1].map((rank) => {
        const file = join(shim.path(name), `calls-${rank}.bin`)
        return readCallRecords(file, readFileSync(file)).run
      })
      expect(second).toBe(first)
      runs.push(first)
    }
    expect(runs[1]).not.toBe(runs[0])
  })

  it('has all operations of several threads', async () => {
    expect(await start('threads')).toEqual(done('threads'))
    const matching = matchingIn(shim.path('threads'), 2)
    for (const rank of [0, 1]) {
      const kinds = [...matching.process(rank).operations].map(({ kind }) => kind)
      expect(kinds.filter((kind) => kind === 'post')).toHaveLength(600)
      expect(kinds.filter((kind) => kind === 'arrive')).toHaveLength(600)
    }
  })

  it('ends at its bound, alike in all processes', async () => {
    const bound = { RANKWEAVE_SHIM_MATCHING_OPERATIONS: '10' }
    expect(await start('order', 'bound', bound)).toEqual(done('order'))
    const matching = matchingIn(shim.path('bound'), 2)
    expect(matching.isBounded).toBe(true)
    // Rank 0 posts eight and two more receives, before rank 1 sends more.
    expect(operationWords(matching.process(0).operations)).toEqual(inOrder.slice(0, 18))
  })

  it.each(['killed', 'aborted'])('is whole up to the end where a process is %s', async (kind) => {
    expect((await start(kind)).code).not.toBe(0)
    const matching = matchingIn(shim.path(kind), 2)
    expect(matching.process(1).isEnded).toBe(false)
    expect(operationWords(matching.process(0).operations).slice(0, inOrder.length)).toEqual(inOrder)
  })

  it('is recorded in no process if one of them does not say so', async () => {
    const command = shim.unless(1, 'unset RANKWEAVE_SHIM', 'matching order')
    const env = { RANKWEAVE_SHIM: `matching:${shim.path('partly')}` }
    expect(await shim.start(2, command, env)).toEqual(done('order'))
    expect(existsSync(shim.path('partly'))).toBe(false)
  })

  it('says once per process that the folder cannot be made, and the program runs', async () => {
    const path = `${shim.library}/inside`
    const ended = await shim.run(1, ['matching none'], { RANKWEAVE_SHIM: `matching:${path}` })
    expect(ended).toEqual({
      ...right('matching none'),
      stderr: `rankweave shim: matching: rank 0 stops recording: ${path}/calls-0.bin: Not a directory\n`,
    })
  })
})
