import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { host, join, run } from 'rankweave'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import ring from '../../examples/ring.js'
import { compiled, compiledUrl } from '../support/compiled.js'
import { callIn, Pages, whyNoBrowser } from '../support/pages.js'

const root = fileURLToPath(new URL('../../', import.meta.url))
const reason = whyNoBrowser()
if (reason !== undefined) console.warn(`worlds with tabs of a browser are not tested: ${reason}`)

const digestOf = (file: string) => createHash('sha256').update(readFileSync(file)).digest('hex')
const plain = (_: string, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value)
const asJson = (value: unknown) => JSON.parse(JSON.stringify(value, plain)) as unknown

const module = `
  import { join } from 'rankweave/browser'
  import ring from './examples/ring.ts'
  import barriers from './test/support/barriers-program.ts'
  const plain = (_, value) => (typeof value === 'bigint' ? value + 'n' : value)
  const mains = {
    ring,
    barriers,
    designs: async (world) => {
      const next = (world.rank + 1) % world.size
      await world.sendrecv(Int32Array.of(world.rank), next, (next + world.size - 2) % world.size)
      return world.describe().matchingDesigns
    },
    computing: async (world, ms) => {
      await world.barrier()
      for (const end = Date.now() + ms; Date.now() < end; );
      await world.barrier()
      return world.size
    },
  }
  export async function take(name, options) {
    try {
      return JSON.stringify(await join(mains[name], options), plain)
    } catch (error) {
      return JSON.stringify({ code: error.code, message: error.message })
    }
  }
`

interface Part {
  readonly firstRank: number
  readonly results: readonly unknown[]
  readonly code?: string
  readonly message?: string
}

describe.skipIf(reason !== undefined)('a world with tabs of a browser', () => {
  let pages: Pages
  beforeAll(async () => {
    pages = await Pages.open(module)
  })
  afterAll(() => pages.close())

  const take = async (name: string, options: object): Promise<Part> => {
    const page = await pages.tab()
    return JSON.parse(await callIn<string>(page, 'take', name, options)) as Part
  }

  it('four tabs and two processes of Node run the ring: the results of one event loop', async () => {
    const program = `${root}examples/ring.ts`
    const world = await host({ ranks: 9, processes: 6 })
    const { url, token } = world
    const tabs = Array.from({ length: 4 }, () => take('ring', { url, token, program: digestOf(program) }))
    const command = [`${root}dist/cli/main.js`, 'join', url, '--token', token, program, '--json']
    const nodes = Array.from({ length: 2 }, () => output(process.execPath, command))
    const parts = await Promise.all(tabs)
    await Promise.all(nodes)
    expect(parts.filter(({ code }) => code !== undefined)).toEqual([])
    expect(await world.ended).toMatchObject({ lost: [] })
    await world.close()
    const expected = asJson(await run(ring, { ranks: 9, processes: 2 })) as unknown[]
    for (const { firstRank, results } of parts) {
      expect(results).toEqual(expected.slice(firstRank, firstRank + results.length))
    }
  })

  it('a tab that is closed is a lost process for all others, at once and not by silence', async () => {
    const program = digestOf(compiled('barriers-program.ts'))
    // Silence would be noticed after a day.
    const world = await host({ ranks: 3, limits: { silenceMs: 86_400_000 } })
    const { url, token } = world
    const closing = await pages.tab()
    const running = new Promise<void>((resolve) => {
      ;(globalThis as { worldRuns?: () => void }).worldRuns = resolve
    })
    const own = join(compiledUrl('barriers-program.ts'), {
      url,
      token,
      process: 0,
    })
    const failed = own.then(
      () => undefined,
      (error: { readonly code: string }) => error.code,
    )
    const other = take('barriers', { url, token, program, process: 1 })
    const closed = callIn(closing, 'take', 'barriers', { url, token, program, process: 2 }).catch(
      () => undefined,
    )
    await running
    await closing.close()
    expect(await failed).toBe('ERR_PEER_LOST')
    expect(await other).toMatchObject({ code: 'ERR_PEER_LOST' })
    await closed
    await world.close()
  })

  it('a tab that computes for longer than the silence that is allowed is alive', async () => {
    const world = await host({ ranks: 2, limits: { silenceMs: 3_000, heartbeatMs: 250 } })
    const { url, token } = world
    const options = { url, token, program: 'computing', args: 9_000 }
    const parts = await Promise.all([take('computing', options), take('computing', { ...options, args: 0 })])
    expect(parts.map(({ results }) => results)).toEqual([[2], [2]])
    await world.close()
  })

  it('a tab in a world of another design of matching queues has the index, and says so', async () => {
    const world = await host({ ranks: 2, matching: { design: 'bins' } })
    const options = { url: world.url, token: world.token, program: 'designs' }
    const parts = await Promise.all([take('designs', options), take('designs', options)])
    expect(parts.map(({ results }) => results)).toEqual([[['index']], [['index']]])
    await world.close()
  })

  it('a tab is refused with the code of the rendezvous', async () => {
    const world = await host({ ranks: 2 })
    expect(await take('ring', { url: world.url, token: 'wrong', program: 'ring' })).toMatchObject({
      code: 'ERR_TOKEN',
    })
    await world.close()
  })
})

/** What a process has written, when it has ended well. */
function output(command: string, args: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'] })
    let text = ''
    child.stdout.on('data', (data) => {
      text += data
    })
    child.on('exit', (code) => (code === 0 ? resolve(text) : reject(new Error(`exit code ${code}: ${text}`))))
  })
}
