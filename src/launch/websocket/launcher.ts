import { type ChildProcess, fork } from 'node:child_process'
import { EventEmitter } from 'node:events'
import { deserialize, serialize } from 'node:v8'
import { isSharedMemory } from '../../base/bytes.js'
import { givenOptions } from '../../base/option-table.js'
import { RankweaveError, reasonText } from '../../errors.js'
import type { FabricFactory } from '../../fabric/fabric.js'
import { decodeError } from '../../messages/process/error-record.js'
import { worldLayout } from '../../messages/process/world-layout.js'
import { childFile } from '../../package-paths.js'
import type { WebSocketFactory } from '../../websocket/websocket-factory-nodejs.js'
import { entryFile } from '../processes/entry-file.js'
import { programDigest } from '../processes/load-program.js'
import { dropOutputOfBrokenStreams, type OutputStreams, passOnOutput } from '../processes/output-streams.js'
import type {
  ChildData,
  FromChild,
  FromProcess,
  OwnMessage,
  ToProcess,
} from '../processes/process-protocol.js'
import type { Launcher, LaunchRequest } from '../processes/session-launcher.js'
import { followWorld, requireModule, type StartedProcess } from '../processes/started-world.js'
import { openRendezvous } from './rendezvous.js'
import { silenceLimits } from './settings.js'

/**
 * Launches on processes of this host, each of which loads the program itself; the rendezvous is in this one.
 *
 * @returns the values that the ranks' mains returned, in rank order, serialized in between
 * @throws ERR_WORLD, ERR_CLONE, ERR_PROGRAM before a process is started
 */
export const launchWebSocket: Launcher = async <T, A>(
  given: FabricFactory,
  { program: main, hosted, world: { args, ...options }, signal, report }: LaunchRequest<T, A>,
): Promise<T[]> => {
  const program = requireModule(main, given.kind, 'processes')
  const factory = given as WebSocketFactory
  const world = { ...options, hosted }
  const { processes, nodes, silenceMs } = factory.options
  const layout = worldLayout(world.ranks, nodes, world.ranksPerProcess)
  const sent = serialized(args)
  const digest = await programDigest(program)
  const rendezvous = await openRendezvous({
    processes,
    program: digest,
    limits: silenceMs === undefined ? {} : silenceLimits(silenceMs),
  })
  const { url } = rendezvous
  const { token, ended } = rendezvous.world
  try {
    return await followWorld<T>(
      () => {
        const data = nodes.map(
          (node, process): ChildData => ({
            kind: 'rankweave child',
            program: program.href,
            ...{ process, url, token, node, world, args: sent },
          }),
        )
        const children = startChildren(program, factory, data)
        // A process that the rendezvous has given up, because it is silent, may still exist.
        void ended.then(({ lost }) => {
          for (const { process, reason } of lost) children[process].kill(reason)
        })
        return { processes: children, noun: 'process', release: dropOutputOfBrokenStreams(children) }
      },
      layout,
      givenOptions({ signal, report }),
    )
  } finally {
    await rendezvous.close('the process that started the world has ended it')
  }
}

/** @throws ERR_CLONE also for arrays in shared memory, of which every process would get a copy of its own */
function serialized(args: unknown): Uint8Array {
  try {
    if (holdsSharedArray(args))
      throw new TypeError('processes do not share memory, got an array in shared memory')
    return serialize(args)
  } catch (cause) {
    const message = `run: args cannot be cloned into processes: ${reasonText(cause)}`
    throw new RankweaveError('ERR_CLONE', message, { cause })
  }
}

/** Tells whether a value holds an array in shared memory. A bare buffer is refused when it is serialized. */
function holdsSharedArray(value: unknown, seen = new Set<unknown>()): boolean {
  if (typeof value !== 'object' || value === null || seen.has(value)) return false
  if (ArrayBuffer.isView(value)) return isSharedMemory(value.buffer)
  seen.add(value)
  const isCollection = value instanceof Map || value instanceof Set
  const parts: unknown[] = isCollection ? [...value] : Object.values(value)
  return parts.some((part) => holdsSharedArray(part, seen))
}

const child = { own: childFile, name: 'child.js', option: 'websocket({ processUrl })' }

/** The milliseconds that a process may take to end when it is told to, or to close its output when it has ended. */
const leaveMs = 2000

/** Starts all processes of a world, or none. @param given data of each process, by number */
function startChildren(
  program: URL,
  { options }: WebSocketFactory,
  given: readonly ChildData[],
): readonly StartedChild[] {
  const entry = entryFile(program, options.processUrl, child)
  const flags = options.execArgv ?? inheritedFlags(process.execArgv)
  const started: StartedChild[] = []
  try {
    for (const data of given) started.push(new StartedChild(entry, flags, data))
    return started
  } catch (error) {
    for (const each of started) void each.terminate()
    throw error
  }
}

/**
 * Returns the flags of this process that another one started from a file can have: none of a program given as text, nor
 * a debugger's port.
 */
export function inheritedFlags(execArgv: readonly string[]): readonly string[] {
  const flags: string[] = []
  for (let n = 0; n < execArgv.length; n++) {
    const flag = execArgv[n]
    if (/^(-e|-p|-pe|--eval|--print)$/.test(flag)) n++
    else if (!/^--(eval=|print=|input-type|inspect)/.test(flag)) flags.push(flag)
  }
  return flags
}

/** A process of the operating system that hosts one process of a world, as the thread that started it sees it. */
class StartedChild implements StartedProcess, OutputStreams {
  readonly #child: ChildProcess
  readonly #events = new EventEmitter()
  readonly #ended: Promise<void>
  #isKilled = false

  constructor(entry: URL, execArgv: readonly string[], data: ChildData) {
    // Process 0 has the standard input of the whole program.
    const stdin = data.process === 0 ? 'inherit' : 'ignore'
    this.#child = fork(entry, [], {
      execArgv: [...execArgv],
      serialization: 'advanced',
      stdio: [stdin, 'pipe', 'pipe', 'ipc'],
    })
    this.#ended = this.#follow()
    passOnOutput(this)
    this.#send(data)
  }

  get pid(): number | undefined {
    return this.#child.pid
  }

  get stdout() {
    return this.#child.stdout!
  }

  get stderr() {
    return this.#child.stderr!
  }

  postMessage(message: ToProcess): void {
    this.#send(message)
  }

  on(event: 'message', listener: (message: FromProcess) => void): unknown
  on(event: 'messageerror' | 'error', listener: (error: Error) => void): unknown
  on(event: 'exit', listener: (code: number) => void): unknown
  on(event: string, listener: (value: never) => void): unknown {
    return this.#events.on(event, listener as (value: unknown) => void)
  }

  /** Ends it at once. */
  kill(reason: string): void {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    this.#isKilled = true
    this.#events.emit('error', new Killed(reason))
    this.#child.kill('SIGKILL')
  }

  /** Closes its connection and waits for its end; kills it if that takes too long. */
  async terminate(): Promise<void> {
    const kill = setTimeout(() => this.#child.kill('SIGKILL'), leaveMs)
    if (this.#child.connected) this.#child.disconnect()
    await this.#ended
    clearTimeout(kill)
  }

  #send(message: ChildData | ToProcess): void {
    // A process that has ended receives nothing; its end is reported separately.
    if (this.#child.connected) this.#child.send(message, () => {})
  }

  /** Emits `exit` after everything else: messages and output may arrive later than the notice that it has ended. */
  async #follow(): Promise<void> {
    const { stdout, stderr } = this.#child
    this.#child.on('message', (message: Partial<OwnMessage> | null) => {
      // The program may send messages, of any form.
      if (message?.rankweave !== undefined) this.#receive(message.rankweave)
    })
    const done = [stdout!, stderr!].map((stream) => new Promise((resolve) => stream.once('close', resolve)))
    const disconnected = new Promise((resolve) => this.#child.once('disconnect', resolve))
    const code = await new Promise<number>((resolve) => {
      this.#child.once('exit', (exitCode, signal) => {
        if (signal !== null && !this.#isKilled) this.#events.emit('error', new Killed(`ended by ${signal}`))
        resolve(exitCode ?? 1)
      })
      // The process could not be started.
      this.#child.once('error', (error) => {
        this.#events.emit('error', error)
        if (this.#child.pid === undefined) resolve(1)
      })
    })
    // A process that it has started may hold its output open without end.
    let timer: NodeJS.Timeout | undefined
    const late = new Promise((resolve) => {
      timer = setTimeout(resolve, leaveMs)
    })
    if (this.#child.pid !== undefined) await Promise.race([Promise.all([...done, disconnected]), late])
    clearTimeout(timer)
    this.#events.emit('exit', code)
  }

  #receive(message: FromChild): void {
    switch (message.kind) {
      case 'uncaught':
        this.#events.emit('error', decodeError(message.error))
        break
      case 'returned':
        this.#events.emit('message', { ...message, results: deserialize(message.results) as unknown[] })
        break
      default:
        this.#events.emit('message', message)
    }
  }
}

/** The error of a process that was ended though it had not failed itself. */
class Killed extends Error {
  override readonly name = 'Killed'
}
