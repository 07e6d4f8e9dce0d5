// Not imported from `node:process`: a module that does opens standard input, which makes it non-blocking for
// all.
//
// Code that also runs in browsers imports no module of Node and names none of its globals, but for this file.

/** What such code uses of Node where it is there. */
export interface NodeProcess {
  readonly stdout: unknown
  readonly stderr: unknown
  readonly execArgv: readonly string[]
  readonly versions: Readonly<Record<string, string | undefined>>
  readonly env: Readonly<Record<string, string | undefined>>
  nextTick(run: () => void): void
  cwd(): string
  /** Seconds and nanoseconds by a clock that never goes back. */
  hrtime(): readonly [seconds: number, ns: number]
  getActiveResourcesInfo(): readonly string[]
  on(event: 'unhandledRejection', listener: (reason: unknown) => void): void
  off(event: 'unhandledRejection', listener: (reason: unknown) => void): void
  listenerCount(event: string): number
  /** Since Node 20.16. */
  getBuiltinModule?: {
    (name: 'node:crypto'): NodeCrypto
    (name: string): unknown
  }
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

/** Undefined in browsers, also where a bundler has put a `process` with an environment only. */
export const nodeProcess: NodeProcess | undefined =
  typeof globals.process?.getActiveResourcesInfo === 'function' ? globals.process : undefined

/** Node's flags of the command line and of the environment; none in browsers. */
export function nodeFlags(): readonly string[] {
  return [
    ...(nodeProcess?.execArgv ?? []),
    ...(nodeProcess?.env['NODE_OPTIONS'] ?? '').split(/\s+/).filter(Boolean),
  ]
}

/**
 * A buffer whose bytes are what the memory held before, for a caller that writes all of them; undefined where
 * every new buffer is zeroed.
 */
export function unwrittenBuffer(sizeBytes: number): ArrayBufferLike | undefined {
  const buffer = nodeProcess === undefined ? undefined : globals.Buffer?.allocUnsafeSlow(sizeBytes).buffer
  return buffer?.byteLength === sizeBytes ? buffer : undefined
}

/** `Buffer.prototype.fill`, whose pattern may be an array. */
export const bufferFill: Fill | undefined =
  nodeProcess === undefined ? undefined : globals.Buffer?.prototype.fill
