import { expect, it } from 'vitest'
import { typeCode } from '../../../../src/messages/datatype/elements.js'
import { Arrived } from '../../../../src/messages/mailboxes/arrived.js'
import { Receive } from '../../../../src/messages/mailboxes/pending-operation.js'
import { coded } from '../../../support/on-ranks.js'
import { drained, openWorld } from './point-to-point-world.js'

// An envelope states the size of its message; only memory that is there at the receiver limits it.
it.each(['Float32Array', 'value'] as const)(
  'a receive whose envelope states more than memory holds of a %s fails alone, and its sender has sent',
  async (type) => {
    const world = await openWorld({ ranks: 2, processes: 2, eagerLimitBytes: 16 })
    const [a, b] = world.comms
    const sent = a.isend(new Float32Array(100), 1, 5)
    while ((await b.iprobe(0, 5)) === null);

    const { matching } = world.states[1]
    const mailbox = matching.mailbox(1)
    const message = matching.extract(mailbox, 0, 5)!
    const envelope = { source: 0, tag: 5, type: typeCode[type], countElems: 2 ** 38, sizeBytes: 2 ** 40 }
    const receive = new Receive(mailbox, 'recv', 0, 5)
    matching.receiveExtracted(new Arrived(message.queue, envelope, message.content), receive)

    await expect(receive.wait()).rejects.toEqual(
      coded('ERR_COUNT', expect.stringContaining(`no memory holds ${type === 'value' ? 2 ** 40 : 2 ** 38}`)),
    )
    await sent.wait()
    const into = new Float32Array(100)
    await Promise.all([a.send(new Float32Array(100).fill(2), 1, 6), b.recv(0, 6, { into })])
    expect(into.every((element) => element === 2)).toBe(true)
    await drained(world)
    expect(world.states.map(({ failed }) => failed)).toEqual([undefined, undefined])
    await world.session.close()
  },
)
