// A module that imports `node:process` opens standard input, which makes it non-blocking for all processes that share
// it. So nothing imports it.
//
// Code that also runs in browsers imports no module of Node, and only this file names Node's globals.

/** The parts of Node that such code uses if they exist. */
interface NodeProcess {
  readonly stdout: unknown
  readonly stderr: unknown
  readonly execArgv: readonly string[]
  readonly versions: Readonly<Record<string, string | undefined>>
  readonly env: Readonly<Record<string, string | undefined>>
  nextTick(run: () => void): void
  emitWarning(warning: string, options: { readonly type: string; readonly code: string }): void
  cwd(): string
  /** Returns seconds and nanoseconds by a clock that never goes back. */
  hrtime(): readonly [seconds: number, ns: number]
  getActiveResourcesInfo(): readonly string[]
  cpuUsage(): CpuUsage
  /** The function exists since Node 23.9. */
  threadCpuUsage?(): CpuUsage
  on(event: 'unhandledRejection', listener: (reason: unknown) => void): void
  off(event: 'unhandledRejection', listener: (reason: unknown) => void): void
  listenerCount(event: string): number
  /** The function exists since Node 20.16. */
  getBuiltinModule?: {
    (name: 'node:crypto'): NodeCrypto
    (name: string): unknown
  }
}

/** Processor times in microseconds. */
interface CpuUsage {
  readonly user: number
  readonly system: number
}

interface NodeCrypto {
  createHash(algorithm: 'sha256'): NodeHash
}

interface NodeHash {
  update(data: string | Uint8Array): unknown
  digest(encoding: 'hex'): string
}

type Fill = (this: Uint8Array, pattern: Uint8Array, start: number, end: number) => Uint8Array

interface NodeBuffer {
  readonly prototype: { readonly fill: Fill }
  allocUnsafeSlow(sizeBytes: number): Uint8Array
}

const globals = globalThis as { readonly process?: NodeProcess; readonly Buffer?: NodeBuffer }

/** Node's `process`; undefined in browsers, also if a bundler has added a `process` that has only an environment. */
export const nodeProcess: NodeProcess | undefined =
  typeof globals.process?.getActiveResourcesInfo === 'function' ? globals.process : undefined

/** Returns Node's flags from the command line and the environment; none in browsers. */
export function nodeFlags(): readonly string[] {
  return [
    ...(nodeProcess?.execArgv ?? []),
    ...(nodeProcess?.env['NODE_OPTIONS'] ?? '').split(/\s+/).filter(Boolean),
  ]
}

/**
 * Returns a buffer that still holds the former contents of its memory, for a caller that writes all bytes. Undefined if
 * every new buffer is zeroed.
 */
export function unwrittenBuffer(sizeBytes: number): ArrayBufferLike | undefined {
  const buffer = nodeProcess === undefined ? undefined : globals.Buffer?.allocUnsafeSlow(sizeBytes).buffer
  return buffer?.byteLength === sizeBytes ? buffer : undefined
}

/** The function `Buffer.prototype.fill`, whose pattern may be an array. */
export const bufferFill: Fill | undefined =
  nodeProcess === undefined ? undefined : globals.Buffer?.prototype.fill
