import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { builtProgram, root } from './built.js'

/** What a process holds after garbage was collected, and the processor time of all its threads. */
export interface ServiceState {
  readonly heapBytes: number
  readonly cpuMs: number
}

/** A service as published, in its own process with its own data; its log is thrown away. */
export class RunningService {
  readonly url: string
  readonly #child: ChildProcess

  private constructor(child: ChildProcess, url: string) {
    this.#child = child
    this.url = url
  }

  static async use<T>(use: (service: RunningService) => Promise<T>): Promise<T> {
    const data = mkdtempSync(join(tmpdir(), 'rankweave-bench-service-'))
    const preload = fileURLToPath(new URL('state-on-request.mjs', import.meta.url))
    const words = ['serve', '--json', '--port', '0', '--data', data]
    const child = spawn(process.execPath, ['--expose-gc', '--import', preload, builtProgram(), ...words], {
      stdio: ['ignore', 'pipe', 'ignore', 'ipc'],
    })
    try {
      const { url } = JSON.parse(await firstLine(child)) as { url: string }
      return await use(new RunningService(child, url))
    } finally {
      await end(child)
      rmSync(data, { recursive: true, force: true })
    }
  }

  async state(): Promise<ServiceState> {
    this.#child.send('state')
    const [state] = (await once(this.#child, 'message')) as [ServiceState]
    return state
  }
}

/** The least a server of the same framework does, in its own process: `GET /healthz`. */
export async function withBareServer<T>(use: (url: string) => Promise<T>): Promise<T> {
  const child = spawn(
    process.execPath,
    ['--import', 'tsx', fileURLToPath(new URL('bare-fastify.ts', import.meta.url))],
    {
      cwd: root,
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
  try {
    return await use(await firstLine(child))
  } finally {
    await end(child)
  }
}

async function firstLine(child: ChildProcess): Promise<string> {
  const ended = once(child, 'exit').then(() => {
    throw new Error('a server ended before it listened')
  })
  const [line] = (await Promise.race([once(createInterface({ input: child.stdout! }), 'line'), ended])) as [
    string,
  ]
  return line
}

async function end(child: ChildProcess): Promise<void> {
  child.kill('SIGTERM')
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
}
