import { describe, expect, it } from 'vitest'
import { startHeartbeatLoop } from '../../../../src/websocket/rendezvous/heartbeats.js'
import { socketState } from '../../../../src/websocket/socket/socket.js'
import { RendezvousCase } from '../../../support/rendezvous-case.js'
import { VirtualClock } from '../../../support/virtual-clock.js'

const limits = { heartbeatMs: 100, silenceMs: 1_000 }

describe('losses', () => {
  it('are reported at once when a member closes its socket without leaving, in one order', async () => {
    const { rendezvous, world, members } = await RendezvousCase.with(4)
    members[2].socket.terminate()
    members[1].socket.terminate()
    await rendezvous.turn()
    const told = [
      'lost 2: its connection to the rendezvous closed (code 1006)',
      'lost 1: its connection to the rendezvous closed (code 1006)',
    ]
    for (const survivor of [0, 3]) expect(members[survivor].events).toEqual(told)
    expect(members[2].events).toEqual(['world lost ERR_WORLD_LOST'])
    void members[0].membership.leave()
    void members[3].membership.leave()
    await rendezvous.turn()
    expect(await world.ended).toMatchObject({ lost: [{ process: 2 }, { process: 1 }], closed: null })
    expect(rendezvous.clock.pending).toBe(0)
  })

  it('a member that leaves is not lost, and its world ends when all have left', async () => {
    const { rendezvous, world, members } = await RendezvousCase.with(3)
    const left = members.map(({ membership }) => membership.leave())
    await rendezvous.turn()
    await Promise.all(left)
    await members[0].membership.leave()
    expect(members.map(({ events }) => events)).toEqual([[], [], []])
    expect(await world.ended).toEqual({ lost: [], failed: null, closed: null })
    expect(rendezvous.clock.pending).toBe(0)
  })

  it('a member that does not read when the world begins is lost, and the others hear of it after their welcome', async () => {
    const rendezvous = new RendezvousCase()
    const { token } = rendezvous.rendezvous.createWorld({ processes: 3 })
    const [deaf, other] = [rendezvous.join(token), rendezvous.join(token)]
    await rendezvous.turn()
    deaf.socket.peer.bufferedAmount = 2 ** 30
    const last = rendezvous.join(token)
    await rendezvous.turn()
    for (const { joined } of [other, last]) {
      const lost: number[] = []
      const membership = await joined
      membership.attach({ lost: (process) => lost.push(process), worldLost() {}, relayed() {} })
      await rendezvous.turn()
      expect(lost).toEqual([0])
    }
  })

  it('a rendezvous that does not close the socket of who leaves is not waited for', async () => {
    const { rendezvous, members } = await RendezvousCase.with(1)
    members[0].socket.isCut = true
    const left = members[0].membership.leave()
    await rendezvous.pass(4_100)
    await left
  })

  it('a member that is silent, by the limit, while others that compute or wait live on', async () => {
    const { rendezvous, members } = await RendezvousCase.with(3, { limits })
    members[1].socket.isCut = true
    await rendezvous.pass(950)
    expect(members[0].events).toEqual([])
    await rendezvous.pass(200)
    for (const survivor of [0, 2]) {
      expect(members[survivor].events).toEqual(['lost 1: it was silent for 1000 ms'])
    }
    await rendezvous.pass(10_000, 50)
    expect(members[0].events).toHaveLength(1)
    // It learns when its network is back.
    members[1].socket.isCut = false
    await rendezvous.turn()
    expect(members[1].events).toEqual(['world lost ERR_WORLD_LOST'])
  })

  it('a rendezvous that is silent is lost to all members', async () => {
    const { rendezvous, members } = await RendezvousCase.with(2, { limits })
    for (const { socket } of members) socket.peer.isCut = true
    await rendezvous.pass(1_250)
    for (const { errors } of members) {
      expect(errors).toMatchObject([
        { code: 'ERR_WORLD_LOST', message: 'the rendezvous has been silent for 1000 ms' },
      ])
    }
  })

  it('heartbeats on a socket of their own keep a process alive whose event loop does not turn', async () => {
    const rendezvous = new RendezvousCase()
    const silent: string[] = []
    const { members } = await rendezvous.world(2, { limits }, (process) =>
      process === 0
        ? {}
        : {
            // Its event loop does not turn: no timer of its own comes due.
            clock: new VirtualClock(),
            startHeartbeats: (task, told) =>
              startHeartbeatLoop(task, { dial: () => rendezvous.dial() }, rendezvous.clock, (reason) => {
                silent.push(reason)
                told(reason)
              }),
          },
    )
    await rendezvous.pass(40_000, 50)
    expect(members[0].events).toEqual([])
    expect(members[1].events).toEqual([])
    expect(silent).toEqual([])
    void members[1].membership.leave()
    void members[0].membership.leave()
    await rendezvous.pass(2_000)
    expect(rendezvous.clock.pending).toBe(0)
  })
})

describe('sockets for heartbeats', () => {
  /** A world of one, and connections that ask to be its socket for heartbeats. */
  async function asked() {
    const rendezvous = new RendezvousCase()
    let request = ''
    const { members } = await rendezvous.world(1, {}, () => ({
      startHeartbeats: (task) => {
        request = task.request
        return { stop: () => {} }
      },
    }))
    const dial = async () => {
      const socket = rendezvous.dial()
      await rendezvous.turn()
      socket.send(request)
      await rendezvous.turn()
      return socket
    }
    return { rendezvous, members, dial }
  }

  it('that do not read are not answered, so that answers do not pile up', async () => {
    const { rendezvous, dial } = await asked()
    const socket = await dial()
    socket.peer.isCut = true
    for (let n = 0; n < 100; n++) socket.send('{"kind":"beat"}')
    await rendezvous.turn()
    expect(socket.peer.bufferedAmount).toBe('{"kind":"beat"}'.length)
  })

  it('of a member are one at a time: the newest', async () => {
    const { members, dial } = await asked()
    const sockets = []
    for (let n = 0; n < 5; n++) {
      sockets.push(await dial())
      const open = sockets.filter(({ peer }) => peer.readyState !== socketState.closed)
      expect(open).toEqual([sockets[n]])
    }
    expect(members[0].events).toEqual([])
  })

  it('that say something else are refused once, however much follows', async () => {
    const { rendezvous, dial } = await asked()
    const socket = await dial()
    const before = rendezvous.clock.pending
    for (let n = 0; n < 100; n++) socket.peer.emit('message', { data: 'nonsense' })
    expect(rendezvous.clock.pending - before).toBe(1)
  })
})

it('a probe is answered by the process itself, after its fabric has been told', async () => {
  const { rendezvous, members } = await RendezvousCase.with(3)
  members[2].membership.probe(1)
  await rendezvous.turn()
  const told = members.map(({ events }) => [...events])
  expect(told).toEqual([[], ['probed by 2'], ['present 1']])
  members[1].socket.terminate()
  members[2].membership.probe(1)
  await rendezvous.turn()
  expect(members[2].events.slice(1)).toEqual([expect.stringMatching(/^lost 1: /)])
})

describe('broken data connections', () => {
  it('are decided after 250 ms: all members learn who is lost, the lost too', async () => {
    const { rendezvous, members } = await RendezvousCase.with(3)
    members[0].membership.reportBroken(2, 'reset', 'closed')
    members[2].membership.reportBroken(0, 'timeout', 'closed')
    members[1].membership.reportBroken(0, 'closed', 'closed')
    await rendezvous.pass(240)
    expect(members[1].events).toEqual([])
    await rendezvous.pass(40)
    const told = ['lost 0: its connection to process 2 broke: timeout']
    expect([members[1].events, members[2].events]).toEqual([told, told])
    expect(members[0].errors[0]).toMatchObject({
      code: 'ERR_WORLD_LOST',
      message: 'this process is lost to its world: its connection to process 2 broke: timeout',
    })
  })

  it('by the fault of one end lose that one, with the code, by any reporter', async () => {
    const { rendezvous, members } = await RendezvousCase.with(3)
    members[0].membership.reportBroken(1, 'the connection was closed', 'closed')
    members[1].membership.reportBroken(0, 'it does not read', 'unread')
    await rendezvous.pass(280)
    const told = ['lost 0: its connection to process 1 broke: ERR_LIMIT: it does not read']
    expect([members[1].events, members[2].events]).toEqual([told, told])
    expect(members[0].errors).toMatchObject([
      { code: 'ERR_WORLD_LOST', message: expect.stringContaining('ERR_LIMIT: it does not read') },
    ])
  })

  it('lose the end whose heartbeats are overdue', async () => {
    const { rendezvous, members } = await RendezvousCase.with(2, { limits: { ...limits, verdictMs: 400 } })
    members[0].membership.reportBroken(1, 'the connection was closed', 'closed')
    members[1].membership.reportBroken(0, 'the connection was closed', 'closed')
    await rendezvous.turn()
    members[0].socket.isCut = true
    await rendezvous.pass(430)
    expect(members[1].events).toEqual([expect.stringMatching(/^lost 0: its connection to process 1 broke/)])
  })

  it('lose no process when the peer has left, or is lost for another reason meanwhile', async () => {
    const { rendezvous, members } = await RendezvousCase.with(4)
    members[0].membership.reportBroken(1, 'closed', 'closed')
    members[0].membership.reportBroken(2, 'closed', 'closed')
    await rendezvous.turn()
    void members[1].membership.leave()
    members[2].socket.terminate()
    await rendezvous.turn()
    members[3].membership.reportBroken(1, 'closed', 'closed')
    members[3].membership.reportBroken(2, 'closed', 'closed')
    await rendezvous.pass(1_000)
    const told = ['lost 2: its connection to the rendezvous closed (code 1006)']
    expect([members[0].events, members[3].events]).toEqual([told, told])
  })
})

describe('a member that reports others, one after the other', () => {
  it.each(['malformed', 'closed', 'silent'] as const)(
    'costs the world one other member at most: %s',
    async (cause) => {
      const { rendezvous, members } = await RendezvousCase.with(6, { limits })
      for (const peer of [0, 1, 2, 4, 5]) {
        members[3].membership.reportBroken(peer, 'as it says', cause)
        await rendezvous.pass(600)
      }
      const told = [
        expect.stringMatching(/^lost 0: its connection to process 3 broke/),
        'lost 3: it alone reports process 1, and has reported 1 other process that few others did',
      ]
      for (const survivor of [1, 2, 4, 5]) expect(members[survivor].events).toEqual(told)
    },
  )

  it('costs it one for each member that does so together with another', async () => {
    const { rendezvous, members } = await RendezvousCase.with(9, { limits })
    for (const peer of [0, 1, 2, 3, 4, 5, 6]) {
      for (const liar of [7, 8]) members[liar].membership.reportBroken(peer, 'as it says', 'malformed')
      await rendezvous.pass(600)
    }
    const lost = members[6].events.map((event) => event.slice(0, 6))
    expect(lost).toEqual(['lost 0', 'lost 1', 'lost 7', 'lost 8'])
  })

  it('is no liar where most others report the same', async () => {
    const { rendezvous, members } = await RendezvousCase.with(6, { limits })
    for (const peer of [0, 1]) {
      for (const each of [2, 3, 4]) members[each].membership.reportBroken(peer, 'two bytes', 'malformed')
      await rendezvous.pass(600)
    }
    members[2].membership.reportBroken(5, 'two bytes', 'malformed')
    await rendezvous.pass(600)
    expect(members[3].events.map((event) => event.slice(0, 6))).toEqual(['lost 0', 'lost 1', 'lost 5'])
  })
})

it('probes of a member do not make another one exceed the limit of its messages', async () => {
  const rendezvous = new RendezvousCase({ limits: { maxControlMessages: 10 } })
  const { members } = await rendezvous.world(3)
  for (let n = 0; n < 4; n++) {
    for (const asker of [0, 2]) for (let k = 0; k < 2; k++) members[asker].membership.probe(1)
    await rendezvous.turn()
  }
  expect(members.flatMap(({ events }) => events).filter((event) => !/^(probed|present)/.test(event))).toEqual(
    [],
  )
  // One at a time for each that asks: its answer is one for both.
  expect(members.map(({ events }) => events.length)).toEqual([4, 8, 4])
})

describe('a member that names other members than the rest in its part of a decision', () => {
  it.each([
    ['before the others', [1, 0, 2]],
    ['between the others', [0, 1, 2]],
    ['after the others', [0, 2, 1]],
  ])('costs no other member: %s', async (_, order) => {
    const { rendezvous, members } = await RendezvousCase.with(3)
    const keys = ['survivors 0.0 #0', 'end']
    const made = new Map<string, number>()
    const all = [0, 1, 2]
    const decide = async (process: number, key: string, list: readonly number[]) => {
      const { contributions } = await members[process].membership.authority!.decide(
        key,
        list,
        Uint8Array.of(1),
      )
      if (process !== 1) made.set(`${process} ${key}`, contributions.filter((bytes) => bytes !== null).length)
    }
    for (const key of keys)
      for (const process of order) {
        decide(process, key, process === 1 ? [0, 1] : all).catch(() => {})
        await rendezvous.turn()
      }
    const told = expect.stringMatching(/^lost 1: decision 'end': expected all processes/)
    for (const survivor of [0, 2]) expect(members[survivor].events).toEqual([told])
    expect(made).toEqual(new Map(keys.flatMap((key) => [0, 2].map((process) => [`${process} ${key}`, 2]))))
  })
})

describe('a broken member', () => {
  it.each<[string, string | Uint8Array<ArrayBuffer>, string]>([
    ['no JSON', '{', 'ERR_PROTOCOL'],
    ['a second join', '{"kind":"waiting"}', 'ERR_PROTOCOL'],
    ['a report on itself', '{"kind":"broken","process":1,"cause":"closed","reason":""}', 'ERR_PROTOCOL'],
    ['a report on no process', '{"kind":"broken","process":9,"cause":"closed","reason":""}', 'ERR_PROTOCOL'],
    ['a decision of others', '{"kind":"decide","key":"k","members":[0,2],"contribution":""}', 'ERR_PROTOCOL'],
    ['an end of some', '{"kind":"decide","key":"end","members":[0,1],"contribution":""}', 'ERR_PROTOCOL'],
    ['a relayed message to itself', Uint8Array.of(1, 0, 0, 0), 'ERR_PROTOCOL'],
    ['a relayed message to no process', Uint8Array.of(9, 0, 0, 0), 'ERR_PROTOCOL'],
    ['a relayed message without receiver', Uint8Array.of(1), 'ERR_PROTOCOL'],
    ['a relayed message that is too long', new Uint8Array(2 ** 20 + 5), 'ERR_MESSAGE_TOO_LARGE'],
    ['a control message that is too long', 'x'.repeat(2 ** 16 + 1), 'ERR_MESSAGE_TOO_LARGE'],
  ])('is lost, and the others continue: %s', async (_, said, code) => {
    const { rendezvous, members } = await RendezvousCase.with(3)
    members[1].socket.send(said)
    await rendezvous.turn()
    expect(members[1].errors).toMatchObject([{ code }])
    for (const survivor of [0, 2])
      expect(members[survivor].events).toEqual([expect.stringMatching(/^lost 1: /)])
    members[0].membership.relay(2, Uint8Array.of(7))
    await rendezvous.turn()
    expect(members[2].events.at(-1)).toBe('relayed 0: 7')
  })

  it('that floods is lost, and one that does not read', async () => {
    const rendezvous = new RendezvousCase({ limits: { maxControlMessages: 10 } })
    const { members } = await rendezvous.world(3)
    for (let n = 0; n <= 10; n++) members[2].socket.send('{"kind":"beat"}')
    members[1].socket.peer.bufferedAmount = 2 ** 24
    await rendezvous.turn()
    expect(members[2].errors).toMatchObject([{ code: 'ERR_LIMIT' }])
    expect(members[0].events).toEqual([
      expect.stringMatching(/^lost 2: expected at most 10 control messages per second/),
      'lost 1: it does not read what it is sent',
    ])
  })

  it('one that the rendezvous sends nonsense fails with ERR_PROTOCOL', async () => {
    const { rendezvous, members } = await RendezvousCase.with(2)
    members[0].socket.peer.send('{"kind":"waiting","joined":1,"processes":1,"heartbeatMs":10,"silenceMs":10}')
    members[1].socket.peer.send(Uint8Array.of(1))
    await rendezvous.turn()
    for (const { errors } of members) expect(errors).toMatchObject([{ code: 'ERR_PROTOCOL' }])
  })
})
