import { type Communicator, local, run } from 'rankweave'
import { algorithmOf, lower, type Schedule, scheduleOf } from 'rankweave/schedule'
import { describe, expect, it } from 'vitest'
import {
  type Exchange,
  ForwardedExchange,
  type Lend,
  type Room,
  type Take,
} from '../../../../src/calls/exchange/exchange.js'
import type { CollectiveCall } from '../../../../src/calls/matching/collective-call.js'
import { ProgramRun } from '../../../../src/calls/program/run-program.js'
import { upTo } from '../../../../src/schedule/specification.js'
import { TestStore } from '../../../support/program-worlds.js'

interface Event {
  /** The last one: how the call failed, with its code. */
  readonly what: 'send' | 'sent' | 'post' | 'arrived' | 'ERR_ABORTED' | 'ERR_REVOKED'
  readonly peer: number
  readonly step: number
}

/** An exchange that notes what a program does, in order. */
class TracedExchange extends ForwardedExchange {
  readonly #note: (event: Event) => void

  constructor(exchange: Exchange, note: (event: Event) => void) {
    super(exchange)
    this.#note = note
  }

  override send(peer: number, step: number, payload: Uint8Array, sent?: () => void): void {
    this.#note({ what: 'send', peer, step })
    super.send(peer, step, payload, () => {
      this.#note({ what: 'sent', peer, step })
      sent?.()
    })
  }

  override take(peer: number, step: number, take: Take): void {
    this.#note({ what: 'post', peer, step })
    super.take(peer, step, (bytes, owned) => {
      this.#note({ what: 'arrived', peer, step })
      take(bytes, owned)
    })
  }

  override takeInto(peer: number, step: number, room: Room, landed: () => void, lend?: Lend): void {
    this.#note({ what: 'post', peer, step })
    const arrived = () => {
      this.#note({ what: 'arrived', peer, step })
      landed()
    }
    super.takeInto(peer, step, room, arrived, lend)
  }
}

/**
 * What every rank does in a run of a schedule, one rank per process, with blocks of 60 numbers.
 *
 * @param isLast at which event of rank 0 its signal is aborted
 */
async function traced(
  schedule: Schedule,
  eagerLimitBytes: number,
  seed: number,
  isLast: (event: Event) => boolean = () => false,
): Promise<readonly Event[][]> {
  const { ranks } = schedule.specification
  const { programs } = lower(schedule, upTo(ranks))
  const events = programs.map((): Event[] => [])
  const main = async (world: Communicator) => {
    const { state, localIndex } = world.seat()
    const program = programs[world.rank]!
    const abort = new AbortController()
    const { signal } = abort
    const note = (event: Event): void => {
      events[world.rank]!.push(event)
      if (world.rank !== 0 || signal.aborted || !isLast(event)) return
      abort.abort()
      note({ what: 'ERR_ABORTED', peer: 0, step: 0 })
    }
    const call: CollectiveCall<undefined, undefined> = {
      signature: { name: 'barrier' },
      run(_, exchange) {
        const store = new TestStore(program, () => 60)
        store.contribute(0)
        new ProgramRun(program).start(new TracedExchange(exchange, note), store, () =>
          exchange.finish([undefined]),
        )
        return undefined
      },
    }
    const outcome = state.collectives.call(localIndex, call, undefined, { signal })
    await outcome.catch(({ code }) => code === 'ERR_ABORTED' || note({ what: code, peer: 0, step: 0 }))
  }
  await run(main, {
    ranks,
    eagerLimitBytes,
    fabric: local({ processes: ranks, seed, faults: { delay: seed % 5 } }),
  })
  return events
}

/** The most that had begun with one kind of event and had not ended with another. */
function mostOpen(events: readonly Event[], begin: Event['what'], end: Event['what']): number {
  let [open, most] = [0, 0]
  for (const { what } of events) {
    if (what === begin) most = Math.max(most, ++open)
    else if (what === end) open--
  }
  return most
}

const seeds = [1, 2, 3, 4, 5, 6]
const indexOf = (events: readonly Event[], what: Event['what'], peer: number, nth = 0) => {
  const found = [...events.entries()].filter(([, event]) => event.what === what && event.peer === peer)
  return found[nth]![0]
}

describe('an all-to-all with at most n requests', () => {
  const ranks = 7
  const schedule = (requests: number) =>
    scheduleOf(algorithmOf('alltoall-linear').with!({ requests }), { ranks, segments: 2 })

  it.each([1, 2, 5])('never has more than %i sends, nor receives, in progress', async (requests) => {
    for (const seed of seeds) {
      for (const eagerLimitBytes of [64, 65536]) {
        for (const events of await traced(schedule(requests), eagerLimitBytes, seed)) {
          expect(events.filter(({ what }) => what === 'sent')).toHaveLength(2 * (ranks - 1))
          expect(mostOpen(events, 'post', 'arrived')).toBe(requests)
          expect(mostOpen(events, 'send', 'sent')).toBe(eagerLimitBytes === 64 ? requests : 1)
        }
      }
    }
  })

  it('sends nothing more once a rank aborts it, and fails on all ranks that are not done', async () => {
    for (const seed of seeds) {
      for (const eagerLimitBytes of [64, 65536]) {
        const isLast = ({ what, step }: Event) => what === 'arrived' && step > 2
        const [first, ...others] = await traced(schedule(1), eagerLimitBytes, seed, isLast)
        expect(first!.filter(({ what }) => what === 'send').length).toBeLessThan(2 * (ranks - 1))
        const ends = [first!, ...others].map((events) => {
          const end = events.findIndex(({ what }) => what.startsWith('ERR_'))
          expect(events.slice(end < 0 ? events.length : end).filter(({ what }) => what === 'send')).toEqual(
            [],
          )
          return end < 0 ? 'done' : events[end]!.what
        })
        expect(ends[0]).toBe('ERR_ABORTED')
        expect(new Set(ends.slice(1))).toEqual(new Set(['ERR_REVOKED']))
      }
    }
  })

  it('has all at once without a limit', async () => {
    for (const events of await traced(schedule(0), 64, 1)) {
      expect(mostOpen(events, 'post', 'arrived')).toBe(2 * (ranks - 1))
      expect(mostOpen(events, 'send', 'sent')).toBe(2 * (ranks - 1))
    }
  })
})

describe('a gather with synchronization', () => {
  const ranks = 6

  it('sends each token when the first segment of the rank before has come, and what remains after it', async () => {
    const root = 2
    const schedule = scheduleOf(algorithmOf('gather-linear-sync'), { ranks, root, segments: 3 })
    for (const seed of seeds) {
      for (const eagerLimitBytes of [64, 65536]) {
        const events = await traced(schedule, eagerLimitBytes, seed)
        for (let position = 1; position < ranks; position++) {
          const rank = (root + position) % ranks
          const ofRank = events[rank]!
          expect(indexOf(ofRank, 'arrived', root)).toBeLessThan(indexOf(ofRank, 'send', root))
          expect(indexOf(ofRank, 'sent', root)).toBeLessThan(indexOf(ofRank, 'send', root, 1))
          if (position === 1) continue
          const before = (rank - 1 + ranks) % ranks
          const token = indexOf(events[root]!, 'send', rank)
          expect(indexOf(events[root]!, 'arrived', before)).toBeLessThan(token)
        }
      }
    }
  })

  it('that is aborted between its phases fails on all ranks that wait, and sends nothing more', async () => {
    const abort = new AbortController()
    let tell!: () => void
    const rankOneIsDone = new Promise<void>((resolve) => {
      tell = resolve
    })
    const reached: string[] = []
    const main = async (world: Communicator) => {
      const options = { algorithm: 'gather-linear-sync', segments: 2 }
      const call = (signal?: AbortSignal) =>
        world
          .gather(
            Float64Array.of(world.rank, world.rank),
            0,
            signal === undefined ? options : { ...options, signal },
          )
          .then(() => 'done')
          .catch(({ code }) => code as string)
      // Rank 2 does not call: the root waits for its first segment, and has sent no token to rank 3.
      if (world.rank === 2) {
        await rankOneIsDone
        reached.push('abort')
        abort.abort()
      }
      const outcome = await call(world.rank === 0 ? abort.signal : undefined)
      reached.push(`${world.rank} ${outcome}`)
      if (world.rank === 1) tell()
      return outcome
    }
    const outcomes = await run(main, { ranks: 4, fabric: local({ processes: 4, seed: 3 }) })
    expect(outcomes).toEqual(['ERR_ABORTED', 'done', 'ERR_REVOKED', 'ERR_REVOKED'])
    expect(reached.indexOf('1 done')).toBeLessThan(reached.indexOf('abort'))
    expect(reached.indexOf('3 ERR_REVOKED')).toBeGreaterThan(reached.indexOf('abort'))
  })
})
