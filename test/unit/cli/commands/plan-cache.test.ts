import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { cli } from '../run-cli.js'

it('--cache retains plans, uses those that are there, and says why one is not used', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'rankweave-plans-'))
  try {
    const plan = (...words: string[]) => cli`plan er:14:d=0.6:seed=2 --cache ${directory} ${words}`
    const first = JSON.parse((await plan('--json')).stdout)
    expect(first.cache).toEqual({ directory, cachedMs: null })
    const second = JSON.parse((await plan('--json')).stdout)
    expect(second).toEqual({ ...first, cache: { directory, cachedMs: expect.any(Number) } })
    expect((await plan()).stdout).toContain('read from cache')
    const [file] = await readdir(directory)
    await writeFile(join(directory, file), 'nothing')
    const damaged = await plan()
    expect(damaged.stdout).not.toContain('read from cache')
    expect(damaged.stderr).toContain('a cached plan is not used: it does not begin as a plan')
    expect((await plan()).stdout).toContain('read from cache')
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
})
