import { expect, it } from 'vitest'
import type { MpiLibrary } from '../../../../src/fabric/mpi/mpi-library.js'
import { MpiOutbox, mpiPayloadBytes } from '../../../../src/fabric/mpi/mpi-outbox.js'

/** Starts sends, none of which ends. */
const library = {
  abi: { byte: 0, handleBytes: 4, requestNull: 0, statusIgnore: 0 },
  calls: { isend: () => {}, testsome: () => {} },
  addressOf: () => 0,
} as unknown as MpiLibrary

/** Bytes that copies of so many payloads take while they wait for a slot. */
function heldBytes(payloads: number, length: number): number {
  const outbox = new MpiOutbox(library, 0, 0, 1)
  const [header, payload] = [new Int32Array(4), new Uint8Array(length)]
  const before = process.memoryUsage().arrayBuffers
  for (let i = 0; i < payloads; i++) outbox.send(0, header, payload)
  const held = process.memoryUsage().arrayBuffers - before
  expect(outbox.drained()).toBe(false)
  return held
}

it('copies of frames that wait for a slot take no more than these and some windows', () => {
  const windows = 64 * mpiPayloadBytes
  for (const length of [4096, 4200, 20_000, mpiPayloadBytes])
    expect(heldBytes(1000, length)).toBeLessThan(1000 * (length + 200) + windows)
})
