import { describe, expect, it } from 'vitest'
import { MpiProcess } from '../../../../src/fabric/mpi/mpi.js'
import type { MpiJob } from '../../../../src/fabric/mpi/mpi-job.js'
import { messageHeadBytes, writeFrame } from '../../../../src/fabric/mpi/mpi-outbox.js'

const headerWords = 4

/** Process 1 of a job of two, whose MPI receives one frame with the next test for messages. */
function processWithFrame(whileTesting: () => void): MpiProcess {
  const memory: { address: number; bytes: Uint8Array }[] = []
  let next = 0
  const addressOf = (view: ArrayBufferView) => {
    const address = next
    next += view.byteLength
    memory.push({ address, bytes: new Uint8Array(view.buffer) })
    return address
  }
  const at = (address: number): { words: Int32Array; bytes: Uint8Array; offset: number } => {
    const found = memory.findLast((each) => each.address <= address)!
    const { bytes } = found
    return { words: new Int32Array(bytes.buffer), bytes, offset: address - found.address }
  }
  const buffers: number[] = []
  let isThere = true
  const library = {
    abi: { handleBytes: 8, requestNull: 0, byte: 0, anySource: -1, statusIgnore: 0 },
    calls: {
      recvInit: (buffer: number) => void buffers.push(buffer),
      start: () => {},
      test: (_request: number, flag: number) => {
        const arrived = at(flag)
        arrived.words[arrived.offset >> 2] = isThere ? 1 : 0
        if (!isThere) return
        isThere = false
        whileTesting()
        const { words, bytes, offset } = at(buffers[0])
        const frame = new Int32Array(headerWords)
        words.set([0, messageHeadBytes + 8 + 4 * headerWords], offset >> 2)
        writeFrame(words, bytes, offset + messageHeadBytes, frame, undefined, 0)
      },
    },
    addressOf,
    yieldsTurn: () => true,
  }
  const job = { library, process: 1, processes: 2, maxTag: 1, isOversubscribed: false, processesPerCore: 1 }
  return new MpiProcess(job as unknown as MpiJob, 0, ['one', 'one'])
}

describe('a process that watches memory', () => {
  it('looks again before it delivers a frame, whose sender may know what was written since it looked', () => {
    let written = false
    const seen: string[] = []
    const fabric = processWithFrame(() => {
      written = true
    })
    fabric.attach({ frame: () => void seen.push('frame'), peerLost: () => {} })
    const unwatch = fabric.watch(() => {
      if (!written) return false
      seen.push('memory')
      unwatch()
      return true
    })
    fabric.poll()
    expect(seen).toEqual(['memory', 'frame'])
  })
})
