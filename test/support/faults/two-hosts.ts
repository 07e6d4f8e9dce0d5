import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'

/**
 * What namespaces of these tests begin with; the process that made them follows, and the how many-th they
 * are.
 */
const prefix = 'rwtest-'
let made = 0

/** One of two hosts: a network namespace with its own loopback, and one end of a cable. */
export interface NetworkHost {
  readonly name: string
  /** By which the other host reaches it. */
  readonly address: string
  /** Starts a program there; its output is piped. */
  start(command: readonly string[], env?: NodeJS.ProcessEnv): ChildProcess
}

export interface TwoHosts {
  readonly hosts: readonly [NetworkHost, NetworkHost]
  /** Takes the device of the first host down: no packet passes any more, and no socket is told. */
  cutCable(): void
  mendCable(): void
}

/** Why two hosts cannot be made here; undefined where they can. */
export function whyNoHosts(): string | undefined {
  if (process.platform !== 'linux') return 'network namespaces are of Linux'
  const name = `${prefix}${process.pid}-x`
  const added = spawnSync('ip', ['netns', 'add', name])
  if (added.error !== undefined) return `ip (iproute2) is missing: ${added.error.message}`
  if (added.status !== 0) return `no right to make network namespaces: ${String(added.stderr).trim()}`
  try {
    // A namespace can be made in some containers where nothing can be started in it, or no cable be laid.
    const entered = spawnSync('ip', ['netns', 'exec', name, 'ip', 'link', 'set', 'lo', 'up'])
    if (entered.status !== 0) return `no right to enter network namespaces: ${String(entered.stderr).trim()}`
    const cable = spawnSync('ip', [
      '-n',
      name,
      'link',
      'add',
      'dev',
      'cable',
      'type',
      'veth',
      'peer',
      'name',
      'other',
    ])
    if (cable.status !== 0) return `no veth devices: ${String(cable.stderr).trim()}`
    return undefined
  } finally {
    spawnSync('ip', ['netns', 'del', name])
  }
}

/**
 * Two network namespaces joined by a pair of veth devices. When `use` has settled, what still runs in them is
 * killed and both are removed; so they are when this process exits early, and what a killed run has left is
 * removed by the next one.
 */
export async function withTwoHosts<T>(use: (hosts: TwoHosts) => Promise<T>): Promise<T> {
  removeAbandoned()
  const pair = `${prefix}${process.pid}-${made++}`
  const names = [`${pair}a`, `${pair}b`] as const
  const remove = () => {
    for (const name of names) removeHost(name)
  }
  process.once('exit', remove)
  try {
    for (const name of names) ip('netns', 'add', name)
    ip(
      '-n',
      names[0],
      'link',
      'add',
      'dev',
      'cable',
      'type',
      'veth',
      'peer',
      'name',
      'cable',
      'netns',
      names[1],
    )
    const addresses = ['10.77.0.1', '10.77.0.2'] as const
    names.forEach((name, n) => {
      ip('-n', name, 'address', 'add', `${addresses[n]}/30`, 'dev', 'cable')
      ip('-n', name, 'link', 'set', 'lo', 'up')
      ip('-n', name, 'link', 'set', 'cable', 'up')
    })
    const host = (n: 0 | 1): NetworkHost => ({
      name: names[n],
      address: addresses[n],
      start: ([program, ...args], env) =>
        spawn('ip', ['netns', 'exec', names[n], program, ...args], {
          stdio: ['ignore', 'pipe', 'pipe'],
          env: { ...process.env, ...env },
        }),
    })
    return await use({
      hosts: [host(0), host(1)],
      cutCable: () => ip('-n', names[0], 'link', 'set', 'cable', 'down'),
      mendCable: () => ip('-n', names[0], 'link', 'set', 'cable', 'up'),
    })
  } finally {
    process.off('exit', remove)
    remove()
  }
}

/** Network namespaces of these tests that exist now; those that one process made, if given. */
export const testHosts = (pid?: number): string[] =>
  String(spawnSync('ip', ['netns', 'list']).stdout)
    .split('\n')
    .map((line) => line.split(' ')[0])
    .filter((name) => name.startsWith(prefix) && (pid === undefined || ownerOf(name) === pid))

/** Of runs whose process is gone. */
function removeAbandoned(): void {
  for (const name of testHosts()) {
    if (!existsSync(`/proc/${ownerOf(name)}`)) removeHost(name)
  }
}

const ownerOf = (name: string): number => Number.parseInt(name.slice(prefix.length), 10)

function removeHost(name: string): void {
  for (const line of String(spawnSync('ip', ['netns', 'pids', name]).stdout).split('\n')) {
    const pid = Number(line)
    if (pid > 0) killQuietly(pid)
  }
  spawnSync('ip', ['netns', 'del', name])
}

function killQuietly(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // Ended meanwhile.
  }
}

function ip(...words: readonly string[]): void {
  const { status, stderr, error } = spawnSync('ip', words)
  if (status !== 0) throw new Error(`ip ${words.join(' ')}: ${error?.message ?? String(stderr).trim()}`)
}
