import { type ChildProcess, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { NetworkHost } from './two-hosts.js'

const root = fileURLToPath(new URL('../../../', import.meta.url))

/** The command, as it was built. */
const command = [process.execPath, `${root}dist/cli/main.js`]

/** A program on one of two hosts, and what it has printed. */
export class HostProgram {
  readonly ended: Promise<{ readonly code: number | null; readonly stdout: string; readonly stderr: string }>
  readonly #child: ChildProcess
  #stdout = ''
  #stderr = ''

  constructor(child: ChildProcess) {
    this.#child = child
    child.stdout!.setEncoding('utf8').on('data', (text: string) => {
      this.#stdout += text
    })
    child.stderr!.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr += text
    })
    this.ended = once(child, 'close').then(([code]: unknown[]) => ({
      code: code as number | null,
      stdout: this.#stdout,
      stderr: this.#stderr,
    }))
  }

  /** Resolves with its standard output once that contains `text`; rejects when the program ends before. */
  async printed(text: string): Promise<string> {
    while (!this.#stdout.includes(text)) {
      const more = once(this.#child.stdout!, 'data').then(() => true)
      if (!(await Promise.race([more, this.ended.then(() => this.#stdout.includes(text))]))) {
        throw new Error(`ended without '${text}':\n${this.#stdout}\n${this.#stderr}`)
      }
    }
    return this.#stdout
  }
}

export interface HostedWorld {
  readonly url: string
  readonly token: string
  readonly program: HostProgram
}

/** `rankweave host` at the address by which the other host reaches it. */
export async function hostWorld(host: NetworkHost, ...words: readonly string[]): Promise<HostedWorld> {
  const listen = ['--listen', `${host.address}:0`, '--json']
  const program = new HostProgram(host.start([...command, 'host', ...words, ...listen]))
  const { url, token } = JSON.parse(await program.printed('}')) as { url: string; token: string }
  return { url, token, program }
}

/** `rankweave join` on one of the hosts. */
export function joinWorld(
  host: NetworkHost,
  { url, token }: HostedWorld,
  file: string,
  words: readonly string[] = [],
  args: readonly string[] = [],
): HostProgram {
  const child = host.start([...command, 'join', url, file, ...words, '--', ...args], {
    RANKWEAVE_TOKEN: token,
  })
  return new HostProgram(child)
}

/** What a program prints on one process, on no network. */
export function printedOnLocal(file: string, ranks: number): string {
  const { stdout, status, stderr } = spawnSync(command[0], [command[1], 'run', file, '-n', String(ranks)], {
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(stderr)
  return stdout
}
