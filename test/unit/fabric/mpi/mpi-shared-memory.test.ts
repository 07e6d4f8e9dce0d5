import { closeSync, openSync, readdirSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { loadKoffi } from '../../../../src/fabric/mpi/mpi-library.js'
import { mappedMemory } from '../../../../src/fabric/mpi/mpi-memory.js'
import { MpiStaging, openSharedMemory, stagingBytes } from '../../../../src/fabric/mpi/mpi-shared-memory.js'

const memory = mappedMemory(await loadKoffi())
const token = 'ab'.repeat(16)

/**
 * Process 1, which has its own memory and answers `reply` when asked whether it has mapped that of the
 * others.
 */
function peer({ named = token, reply = 'mapped', descriptor = -1 } = {}) {
  const own = memory.create(stagingBytes)!
  own.bytes.set(Buffer.from(token, 'hex'))
  const answers = [`${process.pid} ${descriptor < 0 ? own.file : descriptor} ${named}`, reply]
  const said: string[] = []
  const job = (nodes: readonly string[]) => ({
    ...{ library: { memory }, process: 0, nodes },
    texts: (mine: string) => {
      said.push(mine)
      return [mine, answers[said.length - 1]]
    },
  })
  return { own, said, job, close: () => closeSync(own.file) }
}

if (process.platform !== 'linux') console.log('skipped: memory that MPI processes share needs Linux')

describe.skipIf(process.platform !== 'linux')('memory that the processes of a node share', () => {
  it('is read by its peers where it is, and written by its owner alone', () => {
    const { own, said, job, close } = peer()
    const shared = openSharedMemory(job(['a', 'a']))!
    close()
    expect(said[1]).toBe('mapped')
    const staging = new MpiStaging(shared)
    expect([staging.isSharedWith(0), staging.isSharedWith(1)]).toEqual([false, true])
    own.bytes.set([7, 8], 100)
    expect([...staging.reach(1, { segment: 1, byteOffset: 100 }, 2)]).toEqual([7, 8])
    expect(staging.memory().byteLength).toBe(stagingBytes)
    expect(staging.locate(1, staging.memory().subarray(64, 72))).toEqual({ segment: 1, byteOffset: 64 })
    expect(staging.locate(0, staging.memory())).toBeUndefined()
    expect(staging.locate(1, new Uint8Array(8))).toBeUndefined()
  })

  it('is staged in by one session at a time', () => {
    const { job, close } = peer()
    const shared = openSharedMemory(job(['a', 'a']))!
    close()
    const [first, second, third] = [0, 1, 2].map(() => new MpiStaging(shared))
    // It is taken when it is first used.
    expect(second.memory().byteLength).toBe(stagingBytes)
    expect(first.memory().byteLength).toBe(0)
    expect(first.isSharedWith(1)).toBe(true)
    first.release()
    second.release()
    expect(third.memory().byteLength).toBe(stagingBytes)
  })

  it('does not exist where processes are on nodes of their own, or a peer could not map it', () => {
    const { job, close } = peer()
    expect(openSharedMemory(job(['a', 'b']))).toBeUndefined()
    close()
    const failed = peer({ reply: '' })
    expect(openSharedMemory(failed.job(['a', 'a']))).toBeUndefined()
    failed.close()
  })

  it('does not exist where the peer is another process than the one of that number here', () => {
    const stranger = peer({ named: 'cd'.repeat(16) })
    expect(openSharedMemory(stranger.job(['a', 'a']))).toBeUndefined()
    expect(stranger.said[1]).toBe('')
    stranger.close()
    const directory = openSync('/', 'r')
    const other = peer({ descriptor: directory })
    expect(openSharedMemory(other.job(['a', 'a']))).toBeUndefined()
    closeSync(directory)
    other.close()
    const gone = peer()
    gone.close()
    expect(openSharedMemory(gone.job(['a', 'a']))).toBeUndefined()
  })

  it('leaves no file open where its size is refused', () => {
    const open = () => readdirSync('/proc/self/fd').length
    const before = open()
    expect(memory.create(-1)).toBeUndefined()
    expect(open()).toBe(before)
  })
})
