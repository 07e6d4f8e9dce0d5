import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

/** What a process holds, as `leaks.mjs` reports it. */
export interface Held {
  readonly resources: string
  readonly threads: number
  readonly files: number
  readonly workers: number
  readonly ports: number
  readonly shared: number
  readonly sharedBytes: number
  readonly heapBytes: number
  readonly residentBytes: number
}

/** Starts and ends so many worlds on threads in a process of their own, as the built package. */
export async function heldAround(worlds: number): Promise<{ readonly before: Held; readonly after: Held }> {
  const script = fileURLToPath(new URL('leaks.mjs', import.meta.url))
  const args = ['--no-warnings', '--expose-gc', script, String(worlds)]
  const { stdout } = await promisify(execFile)(process.execPath, args)
  return JSON.parse(stdout) as { before: Held; after: Held }
}

/** What must be the same after as before, whatever happened in between. */
export function counted({ resources, threads, files, workers, ports, shared }: Held) {
  return { resources, threads, files, workers, ports, shared }
}
