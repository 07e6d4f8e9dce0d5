import type { Communicator } from 'rankweave'

/**
 * The memory of payloads: ordinary arrays, the same but received into a fresh one each time, or `world.alloc()`,
 * which every process can access.
 */
export type MemoryKind = 'ordinary' | 'fresh' | 'alloc'

/** Zeroed bytes in memory of that kind. */
export function bytesIn(kind: MemoryKind, world: Communicator, sizeBytes: number): Uint8Array {
  if (kind !== 'alloc') return new Uint8Array(sizeBytes)
  const { alloc } = world as { alloc?: (sizeBytes: number) => ArrayBufferLike | ArrayBufferView }
  if (alloc === undefined) throw new Error('world.alloc() is not there yet')
  const memory = alloc.call(world, sizeBytes)
  return ArrayBuffer.isView(memory)
    ? new Uint8Array(memory.buffer, memory.byteOffset, memory.byteLength)
    : new Uint8Array(memory, 0, sizeBytes)
}
