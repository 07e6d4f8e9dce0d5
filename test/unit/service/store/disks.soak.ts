import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { asking } from '../../../support/service.js'
import { serveProcess } from '../../../support/service-kills.js'
import { temporaryFolder } from '../../../support/temporary-folder.js'

const folder = temporaryFolder('disks')

/** Whether a command of the system that a test needs works here; where not, why not. */
function lacks(command: string, ...args: string[]): string | undefined {
  const { status, error, stderr } = spawnSync(command, args, { encoding: 'utf8' })
  return status === 0 ? undefined : `${command}: ${error?.message ?? stderr.trim()}`
}

const noLimits = lacks('prlimit', '--fsize')
const noMounts = lacks('unshare', '--mount', 'mount', '-t', 'tmpfs', 'none', '/mnt')
for (const reason of [noLimits, noMounts]) if (reason !== undefined) console.log(reason)

async function serving(data: string, by: readonly string[] = []) {
  const { process: child, url, log } = await serveProcess(data, ['--limits', 'workers=1'], by)
  onTestFinished(() => void child.kill('SIGKILL'))
  const ask = asking({ url })
  const health = async () => (await ask.get('/healthz')).status
  /** Resolves when it answers so. */
  const untilHealth = async (status: number) => {
    while ((await health()) !== status);
  }
  return { child, ask, log, health, untilHealth }
}

async function end(child: ChildProcess) {
  const exited = once(child, 'exit')
  child.kill('SIGTERM')
  expect(await exited).toEqual([0, null])
}

it.skipIf(noLimits)(
  'where the disk takes nothing, what cannot be removed is still there, each time; then it can',
  async () => {
    const data = join(folder(), 'refusing')
    const { child, ask, health, untilHealth } = await serving(data)
    const { id: topology } = (await ask.upload('moore:6x6:r=1', 'format=spec')).body
    const { body: job } = await ask.plan({ topology })
    expect((await ask.events(job.id)).at(-1)).toMatchObject({ state: 'done' })
    expect(await health()).toBe(200)
    // Files may not grow: as on a disk that became read-only, or is full to the last byte.
    const limit = (most: string) => execFileSync('prlimit', ['--pid', `${child.pid}`, `--fsize=${most}:`])
    limit('0')
    for (let time = 0; time < 3; time++) {
      const removed = await ask.json(`/v1/plans/${job.plan}`, { method: 'DELETE' })
      expect(removed).toMatchObject({ status: 503, body: { error: { code: 'ERR_STORE' } } })
      expect(await ask.info(job.plan)).toMatchObject({ status: 200 })
      expect((await ask.get(`/v1/plans/${job.plan}/schedule`)).status).toBe(200)
      expect(await health()).toBe(503)
    }
    expect((await ask.plan({ topology, k: 3 })).status).toBe(503)
    expect((await ask.upload('moore:6x7:r=1', 'format=spec')).status).toBe(503)
    expect(readdirSync(join(data, 'temporary'))).toEqual([])
    limit('unlimited')
    await untilHealth(200)
    expect((await ask.get(`/v1/plans/${job.plan}`)).status).toBe(200)
    expect((await ask.get(`/v1/plans/${job.plan}`, { method: 'DELETE' })).status).toBe(204)
    expect((await ask.get(`/v1/plans/${job.plan}`)).status).toBe(404)
    // What was refused was not accepted, what was removed is gone, and the rest is there.
    expect((await ask.plan({ topology, k: 4 })).status).toBe(202)
    await end(child)
    const again = await serving(data)
    expect(await ask.get('/healthz').catch(() => null)).toBeNull()
    const { plans } = (await again.ask.json<{ plans: { request: object }[] }>('/v1/plans')).body
    expect(plans.map(({ request }) => request)).toMatchObject([{ k: 4 }])
    await end(again.child)
  },
)

it.skipIf(noMounts)(
  'on a full disk, jobs fail, leave nothing, and are not planned again after a restart',
  async () => {
    const data = join(folder(), 'full')
    // The mount is there as long as this process, and for nobody else.
    const holder = spawn(
      'unshare',
      [
        '--mount',
        'sh',
        '-c',
        `mkdir ${data} && mount -t tmpfs -o size=8m none ${data} && echo ready && exec sleep infinity`,
      ],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    )
    onTestFinished(() => void holder.kill('SIGKILL'))
    await once(holder.stdout, 'data')
    const seen = join(`/proc/${holder.pid}/root`, data)
    const inside = ['nsenter', '--target', `${holder.pid}`, '--mount', `--wd=${process.cwd()}`]
    const { child, ask, health, untilHealth, log } = await serving(data, inside)
    const { id: topology } = (await ask.upload('moore:40x40:r=2', 'format=spec')).body
    // The engine has room for a few records, a plan has none.
    const filler = join(seen, 'filler')
    const { bavail, bsize } = statfsSync(seen)
    writeFileSync(filler, Buffer.alloc(bavail * bsize - 300_000))
    const jobs: string[] = []
    for (let labels = 0; labels < 22; labels++) jobs.push((await ask.plan({ topology, labels })).body.id)
    for (const job of jobs)
      expect((await ask.events(job)).at(-1)).toMatchObject({ state: 'failed', error: { code: 'ERR_STORE' } })
    expect(readdirSync(join(seen, 'temporary'))).toEqual([])
    expect(readdirSync(join(seen, 'bodies')).length).toBe(1)
    // Full to the last byte.
    const rest = join(seen, 'rest')
    expect(() => writeFileSync(rest, Buffer.alloc(8_000_000))).toThrow('ENOSPC')
    for (let labels = 100; (await ask.plan({ topology, labels })).status !== 503; labels++);
    expect(await health()).toBe(503)
    rmSync(rest)
    await untilHealth(200)
    child.kill('SIGKILL')
    await once(child, 'exit')
    const again = await serving(data, inside)
    for (const job of jobs)
      expect((await again.ask.json(`/v1/jobs/${job}`)).body).toMatchObject({ state: 'failed' })
    rmSync(filler)
    const { body: job } = await again.ask.plan({ topology, labels: 0 })
    expect((await again.ask.events(job.id)).at(-1), log()).toMatchObject({ state: 'done' })
    await end(again.child)
  },
)
