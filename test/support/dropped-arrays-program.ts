import { readFileSync } from 'node:fs'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { Communicator } from 'rankweave'

export interface DroppedArrays {
  readonly sizeBytes: number
  readonly messages: number
}

/**
 * Rank 1 receives arrays without `into`, holds all of them, and then drops them. Resolves to the resident bytes that
 * the process has less after that.
 */
export default async function main(
  world: Communicator,
  { sizeBytes, messages }: DroppedArrays,
): Promise<number> {
  if (world.rank === 0) {
    const data = new Uint8Array(sizeBytes).fill(1)
    for (let n = 0; n < messages; n++) await world.send(data, 1)
    await world.barrier()
    return 0
  }
  const held: unknown[] = []
  for (let n = 0; n < messages; n++) held.push((await world.recv(0, 0, {})).data)
  await world.barrier()
  const before = residentBytes()
  held.length = 0
  await new Promise((resolve) => setImmediate(resolve))
  // The second waits for what the first releases on another thread.
  for (let n = 0; n < 2; n++) collect()
  return before - residentBytes()
}

function collect(): void {
  setFlagsFromString('--expose-gc')
  runInNewContext('gc')()
}

function residentBytes(): number {
  const [, kib] = /^VmRSS:\s*(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'))!
  return Number(kib) * 1024
}
