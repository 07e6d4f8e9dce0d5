import { type ChildProcess, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setImmediate as turn } from 'node:timers/promises'
import { expect, onTestFinished } from 'vitest'
import { seededRandom } from '../../src/base/random.js'
import { asking } from './service.js'

/** `rankweave serve` as its own process, by a command that runs it where that is given. */
export async function serveProcess(
  data: string,
  more: readonly string[] = [],
  by: readonly string[] = [],
): Promise<{ readonly process: ChildProcess; readonly url: string; readonly log: () => string }> {
  const args = ['dist/cli/main.js', 'serve', '--json', '--port', '0', '--data', data, ...more]
  const [command, ...words] = [...by, process.execPath, ...args]
  const child = spawn(command, words, { stdio: ['ignore', 'pipe', 'pipe'] })
  let log = ''
  child.stderr.on('data', (piece) => {
    log += piece
  })
  const lines = createInterface({ input: child.stdout })
  const line = await Promise.race([
    once(lines, 'line').then(([text]) => text as string),
    once(child, 'exit').then(() => null),
  ])
  if (line === null) throw new Error(`the service ended before it listened: ${log}`)
  return { process: child, url: (JSON.parse(line) as { url: string }).url, log: () => log }
}

/**
 * A service that is killed again and again while it takes topologies and makes plans. After every kill it
 * starts on the same data: nothing is damaged, every plan that it said was done is there with the bytes it
 * had, and every job that it accepted gets done.
 */
export async function killService(data: string, kills: number, seed: number): Promise<void> {
  const random = seededRandom(seed)
  /** SHA-256 of plans that were said to be done. */
  const done = new Map<string, string>()
  const accepted = new Set<string>()
  const uploaded = new Set<string>()
  let labels = 0
  for (let kill = 0; kill <= kills; kill++) {
    const { process: child, url } = await serveProcess(data)
    // Where an assertion fails it would stay.
    onTestFinished(() => void child.kill('SIGKILL'))
    const ask = asking({ url })
    // Bodies whose records a kill prevented are put aside; no record is.
    expect(readdirSync(join(data, 'damaged')).filter((name) => name.endsWith('.json'))).toEqual([])
    const { topologies } = (await ask.json<{ topologies: { id: string }[] }>('/v1/topologies')).body
    const ids = topologies.map(({ id }) => id)
    for (const id of uploaded) expect(ids).toContain(id)
    for (const [plan, sha256] of done) {
      const schedule = await (await ask.get(`/v1/plans/${plan}/schedule`)).text()
      expect(createHash('sha256').update(schedule).digest('hex'), `plan ${plan} after kill ${kill}`).toBe(
        sha256,
      )
    }
    for (const job of accepted)
      expect((await ask.events(job)).at(-1), `job ${job} after kill ${kill}`).toMatchObject({
        state: 'done',
      })
    accepted.clear()
    if (kill === kills) {
      child.kill('SIGTERM')
      expect(await once(child, 'exit')).toEqual([0, null])
      // Otherwise nothing was tested: on average, 11 answers of three kinds come before a kill.
      expect(Math.min(uploaded.size, done.size)).toBeGreaterThanOrEqual(Math.min(kills, 10))
      return
    }

    let answers = Math.floor(random() * 24)
    const exited = once(child, 'exit')
    let isKilled = false
    const answered = async () => {
      if (answers-- > 0 || isKilled) return
      isKilled = true
      for (let turns = Math.floor(random() * 20); turns > 0; turns--) await turn()
      child.kill('SIGKILL')
    }
    const client = async () => {
      try {
        for (;;) {
          const number = labels++
          const uploading = await ask.upload(`moore:6x${3 + (number % 40)}:r=1`, 'format=spec')
          uploaded.add(uploading.body.id)
          await answered()
          const { body } = await ask.plan({ topology: uploading.body.id, labels: number })
          accepted.add(body.id)
          await answered()
          if ((await ask.events(body.id)).at(-1)?.state === 'done') {
            const info = await ask.info(body.plan)
            done.set(body.plan, info.body.sha256)
          }
          await answered()
        }
      } catch (error) {
        // Of the connection: the service is gone.
        if (!isKilled) throw error
      }
    }
    await Promise.all([client(), client(), client(), client()])
    await exited
  }
}
