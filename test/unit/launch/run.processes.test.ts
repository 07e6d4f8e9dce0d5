import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it, onTestFinished } from 'vitest'

describe('no leftovers', () => {
  it('that keep a program alive or add listeners', async () => {
    const script = `
      import { run } from 'rankweave'
      const loop = () => new Promise((resolve) => setImmediate(resolve))
      const active = () => process.getActiveResourcesInfo().sort().join()
      const wait = (world) => world.rank === 1 ? Promise.reject(new Error('bad')) : world.recv(1)
      await run((world) => world.barrier(), { ranks: 4 })
      await loop()
      const before = active()
      for (let n = 0; n < 50; n++) {
        await run((world) => world.barrier(), { ranks: 4, processes: 3 })
        await run(wait, { ranks: 4, processes: 3 }).catch(() => {})
      }
      await loop()
      console.log(active() === before)`
    const args = ['--input-type=module', '-e', script]
    expect((await promisify(execFile)(process.execPath, args)).stdout).toBe('true\n')
  })

  it('dropped waits of a world that ended do not end the program, other rejections do', async () => {
    const script = (body: string) => `
      import { run } from 'rankweave'
      const main = async (world) => {
        if (world.rank === 0) { await new Promise((resolve) => setTimeout(resolve, 5)); throw new Error('first') }
        const a = world.recv(0, 1).then(() => 'a')
        const b = world.recv(0, 2).then(() => 'b')
        ${body}
        await a
        await b
      }
      await run(main, { ranks: 4, processes: 2 }).catch((error) => console.log(error.message))
      await new Promise((resolve) => setTimeout(resolve, 5))
      console.log(process.listenerCount('unhandledRejection'))
    `
    const node = (body: string) =>
      promisify(execFile)(process.execPath, ['--input-type=module', '-e', script(body)])
    expect((await node('')).stdout).toBe('first\n0\n')
    await expect(node("Promise.reject(new Error('dropped by the user'))")).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringContaining('dropped by the user'),
    })
  })
})

it('a module that awaits a run of itself in its own thread is ERR_PROGRAM', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'rankweave-self-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'self.mjs')
  const library = JSON.stringify(import.meta.resolve('rankweave'))
  writeFileSync(
    file,
    `import { run } from ${library}
     export default (world) => world.rank
     await run(new URL(import.meta.url), { ranks: 1 }).catch(({ code }) => console.log(code))`,
  )
  expect((await promisify(execFile)(process.execPath, [file])).stdout).toBe('ERR_PROGRAM\n')
})

describe('a rank that awaits a promise which nothing settles', () => {
  const outcome = async (main: string) => {
    const script = `
      import { run } from 'rankweave'
      const main = async (world) => {
        if (world.rank === 3) await ${main}
        await world.barrier()
      }
      run(main, { ranks: 4, processes: 2 }).then(() => console.log('done'), (error) => console.log(error.code, error.message))
    `
    const args = ['--input-type=module', '-e', script]
    return (await promisify(execFile)(process.execPath, args)).stdout
  }

  it('is reported while others wait for it, but not while work on the thread pool may settle it', async () => {
    const scrypt = `new Promise((done) => process.getBuiltinModule('node:crypto').scrypt('a', 'b', 64, { N: 2 ** 16, maxmem: 2 ** 31 }, done))`
    const [forgotten, hashing] = await Promise.all([outcome('new Promise(() => {})'), outcome(scrypt)])
    expect(forgotten).toMatch(/^ERR_DEADLOCK rank 3 cannot continue: nothing is left/)
    expect(hashing).toBe('done\n')
  })
})
