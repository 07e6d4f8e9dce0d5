import { describe, expect, it } from 'vitest'
import { Communicator } from '../../../src/comm/communicator.js'
import { envelopeWord, envelopeWords, frameKind, headerWord } from '../../../src/comm/frames.js'
import { stridedTable } from '../../../src/comm/rank-table.js'
import { Runtime } from '../../../src/comm/runtime.js'
import { worldLayout } from '../../../src/comm/world-layout.js'
import type { Fabric, FrameSink } from '../../../src/fabric/fabric.js'

const turn = () => new Promise((resolve) => setImmediate(resolve))

/** A rank alone in its process, whose messages come when it has begun to wait, or when it looks. */
function openRank() {
  const looks: number[] = []
  let sink!: FrameSink
  let comes: 'at once' | 'later' | 'nothing' = 'nothing'
  const deliver = () => {
    comes = 'nothing'
    const header = new Int32Array(envelopeWords)
    header[headerWord.kind] = frameKind.eager
    header[envelopeWord.source] = 1
    header[envelopeWord.type] = 2
    header[envelopeWord.sizeBytes] = 1
    sink.frame(1, header, Uint8Array.of(7))
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
    glance: (maxLooks) => {
      looks.push(maxLooks)
      return comes === 'at once' && deliver()
    },
    spin: () => comes === 'later' && deliver(),
  }
  const runtime = new Runtime(fabric as Fabric, worldLayout(2, ['one', 'one']))
  const comm = new Communicator(runtime.createContext({ leader: 0, counter: 0 }, stridedTable(2)), 0)
  const receive = async (when: typeof comes, meanwhile = () => {}) => {
    comes = when
    const message = comm.recv(1)
    meanwhile()
    await turn()
    expect((await message).data).toEqual(Uint8Array.of(7))
  }
  return { comm, looks, receive }
}

describe('a rank that is about to wait', () => {
  it('looks as long as ever when it missed a message while it did nothing but wait', async () => {
    const { looks, receive } = openRank()
    for (let i = 0; i < 10; i++) await receive('later')
    expect(new Set(looks)).toEqual(new Set([looks[0]]))
  })

  it('looks less and less when it has more to do before it waits, and longer again once that pays', async () => {
    const { comm, looks, receive } = openRank()
    for (let i = 0; i < 10; i++) await receive('later', () => void comm.send(Uint8Array.of(1), 1))
    expect(looks.at(-1)).toBeLessThan(looks[0]! / 8)
    await receive('at once')
    await receive('at once')
    expect(looks.at(-1)).toBe(looks[0])
  })
})
