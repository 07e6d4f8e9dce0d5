import { Communicator, type Request, waitall } from 'rankweave'
import { describe, expect, it } from 'vitest'
import { firstStep } from '../../../../src/calls/plan/collective-plan.js'
import { encodeSignature, type Signature } from '../../../../src/calls/signature.js'
import { CommRuntime } from '../../../../src/comm/comm-state.js'
import { stridedTable } from '../../../../src/comm/table/rank-table.js'
import type { Fabric, FrameSink } from '../../../../src/fabric/fabric.js'
import {
  collectiveWord,
  envelopeWord,
  envelopeWords,
  frameKind,
  headerWord,
  signatureWords,
} from '../../../../src/messages/process/frames.js'
import { worldLayout } from '../../../../src/messages/process/world-layout.js'

const turn = () => new Promise((resolve) => setImmediate(resolve))

/** A rank alone in its process, whose messages come when it has begun to wait, or when it looks. */
function openRank() {
  const looks: number[] = []
  let sink!: FrameSink
  let comes: When = 'nothing'
  let header = message()
  const deliver = () => {
    comes = 'nothing'
    sink.frame(1, header, header[headerWord.kind] === frameKind.eager ? Uint8Array.of(7) : new Uint8Array())
    return true
  }
  const fabric: Partial<Fabric> = {
    process: 0,
    processes: 2,
    maxPayloadBytes: 1024,
    attach: (receiver) => {
      sink = receiver
    },
    send: () => {},
    ref: () => {},
    unref: () => {},
    tryPoll: (maxPolls) => {
      looks.push(maxPolls)
      return comes === 'after others' || (comes === 'at once' && deliver())
    },
    spin: () => (comes === 'later' || comes === 'after others') && deliver(),
  }
  const runtime = new CommRuntime(fabric as Fabric, worldLayout(2, ['one', 'one']))
  const comm = new Communicator(runtime.createContext({ leader: 0, counter: 0 }, stridedTable(2)), 0)
  const receive = async (when: When, meanwhile = () => {}) => {
    comes = when
    header = message()
    const received = comm.recv(1)
    meanwhile()
    await turn()
    expect((await received).data).toEqual(Uint8Array.of(7))
  }
  /** A frame comes. Gives the waits that the call leaves behind. */
  const waiting = async (call: () => Promise<unknown>, when: When, frame = message()) => {
    comes = when
    header = frame
    const done = call()
    const { waits } = runtime.waits
    await done
    return waits
  }
  /** The only frame of its other process comes. */
  const collective = (call: () => Promise<unknown>, signature: Signature, when: When) =>
    waiting(call, when, collectiveFrame(signature, calls++))
  let calls = 0
  return { comm, looks, receive, collective, waiting }
}

type When = 'at once' | 'later' | 'after others' | 'nothing'

/** A byte, to rank 0. */
function message(): Int32Array {
  const header = new Int32Array(envelopeWords)
  header[headerWord.kind] = frameKind.eager
  header[envelopeWord.source] = 1
  header[envelopeWord.type] = 2
  header[envelopeWord.sizeBytes] = 1
  return header
}

/** No bytes, in the first round of a collective's program. */
function collectiveFrame(signature: Signature, seq: number): Int32Array {
  const header = new Int32Array(9 + signatureWords)
  header[headerWord.kind] = frameKind.collective
  header[collectiveWord.seq] = seq
  header[collectiveWord.step] = firstStep
  encodeSignature(signature, header, collectiveWord.signature)
  return header
}

describe('a rank that is about to wait', () => {
  it('keeps its number of polls when it missed a message while it only waited', async () => {
    const { looks, receive } = openRank()
    for (let i = 0; i < 10; i++) await receive('later')
    expect(new Set(looks)).toEqual(new Set([looks[0]]))
  })

  it('keeps its number of polls while frames arrive that it does not wait for', async () => {
    const { comm, looks, receive } = openRank()
    for (let i = 0; i < 2; i++) await receive('after others', () => void comm.send(Uint8Array.of(1), 1))
    expect(new Set(looks)).toEqual(new Set([looks[0]]))
    expect(looks.length).toBeGreaterThan(1)
  })

  it('halves its polls while they fail, and restores them once one succeeds', async () => {
    const { comm, looks, receive } = openRank()
    for (let i = 0; i < 10; i++) await receive('later', () => void comm.send(Uint8Array.of(1), 1))
    expect(looks.at(-1)).toBeLessThan(looks[0] / 8)
    await receive('at once')
    await receive('at once')
    expect(looks.at(-1)).toBe(looks[0])
  })
})

describe('a rank that waits for requests', () => {
  it.each([
    ['wait', (comm: Communicator) => [comm.irecv(1)], ([request]: Request<unknown>[]) => request.wait()],
    ['waitall', (comm: Communicator) => [comm.irecv(1)], waitall],
  ] as const)('does not wait in %s if the message arrives at once', async (_, start, wait) => {
    const { comm, looks, waiting } = openRank()
    expect(await waiting(() => wait(start(comm)), 'at once')).toBe(0)
    expect(await waiting(() => wait(start(comm)), 'later')).toBe(1)
    expect(looks.length).toBe(2)
  })

  it('takes what comes for all of them, in any order', async () => {
    const { comm, waiting } = openRank()
    const requests = [comm.irecv(1, 5), comm.irecv(1, 0)]
    expect(await waiting(() => requests[1].wait(), 'at once')).toBe(0)
    requests[0].cancel()
    await expect(waitall(requests)).rejects.toMatchObject({ code: 'ERR_ABORTED' })
  })

  it('does not poll in waitall when one has failed already, nor for a collective', async () => {
    const { comm, looks } = openRank()
    const [open, cancelled] = [comm.irecv(1), comm.irecv(1)]
    cancelled.cancel()
    await expect(waitall([open, cancelled])).rejects.toMatchObject({ code: 'ERR_ABORTED' })
    void comm.ibarrier().wait()
    expect(looks.length).toBe(0)
  })
})

describe('the last rank of a process to call a collective', () => {
  const barrier: Signature = { name: 'barrier' }

  it('does not wait if the missing frame arrives at once', async () => {
    const { comm, collective } = openRank()
    for (let i = 0; i < 3; i++) expect(await collective(() => comm.barrier(), barrier, 'at once')).toBe(0)
    for (let i = 0; i < 3; i++) expect(await collective(() => comm.barrier(), barrier, 'later')).toBe(1)
  })

  it('does not poll if promises lie between a frame and its consequences', () => {
    const looksOf = (call: (comm: Communicator) => Promise<unknown>) => {
      const { comm, looks } = openRank()
      void call(comm)
      return looks.length
    }
    expect(looksOf((comm) => comm.scan(1, 'sum'))).toBe(0)
    expect(looksOf((comm) => comm.barrier())).toBe(1)
  })
})
