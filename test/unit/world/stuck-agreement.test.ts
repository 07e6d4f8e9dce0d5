import { afterEach, describe, expect, it } from 'vitest'
import { CommRuntime } from '../../../src/comm/comm-state.js'
import type { Fabric, FrameSink } from '../../../src/fabric/fabric.js'
import { frameKind } from '../../../src/messages/process/frames.js'
import { worldLayout } from '../../../src/messages/process/world-layout.js'
import { type Evidence, StuckAgreement } from '../../../src/world/deadlock.js'

const turn = () => new Promise((resolve) => setImmediate(resolve))
/** Words of a `stuck` frame: see StuckAgreement. */
const word = { step: 3, wave: 4, stuck: 5 } as const
const answer = 2
/** Any frame that no service handles. */
const anyFrame = Int32Array.of(frameKind.quiesce, 0, 0, 0)

/** One process of two whose frames are put down instead of sent, and given to it by hand. */
class Process {
  readonly sent: Int32Array[] = []
  readonly decided: (Evidence | undefined)[] = []
  stuck = true
  readonly process: number
  readonly agreement: StuckAgreement
  #sink!: FrameSink

  constructor(process: number) {
    this.process = process
    const fabric: Partial<Fabric> = {
      process,
      processes: 2,
      maxPayloadBytes: 1024,
      attach: (sink) => {
        this.#sink = sink
      },
      send: (_peer, header) => void this.sent.push(header.slice()),
      ref: () => {},
      unref: () => {},
    }
    const runtime = new CommRuntime(fabric as Fabric, worldLayout(2, ['one', 'one']))
    runtime.waits.block(0, false)
    // What a frame of a collective does: a rank continues in a microtask.
    runtime.onService(frameKind.quiesce, () => void Promise.resolve().then(() => (this.stuck = false)))
    this.agreement = new StuckAgreement([runtime], 120, {
      stuck: () => this.stuck,
      decided: (evidence) => void this.decided.push(evidence),
    })
    open.push(this.agreement)
  }

  take(header: Int32Array): void {
    this.#sink.frame(1 - this.process, header, new Uint8Array(0))
  }
}

const open: StuckAgreement[] = []
afterEach(() => {
  for (const agreement of open.splice(0)) agreement.stop()
})

describe('the agreement that a world is stuck', () => {
  it('is reached in two waves', async () => {
    const [asker, other] = [new Process(0), new Process(1)]
    for (const wave of [1, 2]) {
      asker.agreement.ask()
      other.take(asker.sent.at(-1)!)
      await turn()
      asker.take(other.sent.at(-1)!)
      await turn()
      expect(asker.decided).toHaveLength(wave)
    }
    expect(asker.decided[0]).toBeUndefined()
    expect(asker.decided[1]).toMatchObject({ blocked: 2, ended: 0 })
  })

  it('answers no query that arrives after it was stopped', async () => {
    const [asker, other] = [new Process(0), new Process(1)]
    asker.agreement.ask()
    other.agreement.stop()
    other.take(asker.sent[0])
    await turn()
    expect(other.sent).toEqual([])
  })

  it('answers only after the frames before the query have had their effect', async () => {
    const [asker, other] = [new Process(0), new Process(1)]
    asker.agreement.ask()
    other.take(anyFrame)
    other.take(asker.sent[0])
    // A process that is descheduled right here may find the next wave's question without having left its
    // stack.
    other.take(asker.sent[0])
    await turn()
    const answers = other.sent.filter((header) => header[word.step] === answer)
    expect(answers.length).toBeGreaterThan(0)
    for (const header of answers) expect(header[word.stuck]).toBe(0)
  })

  it('decides only after the frames before the answer have had their effect', async () => {
    const [asker, other] = [new Process(0), new Process(1)]
    asker.agreement.ask()
    other.take(asker.sent[0])
    await turn()
    asker.take(anyFrame)
    asker.take(other.sent[0])
    // The process that asks counts as stuck only once it has nothing left to do.
    asker.agreement.ask()
    await turn()
    expect(asker.decided).toEqual([undefined])
    asker.agreement.ask()
    other.take(asker.sent.at(-1)!)
    await turn()
    asker.stuck = true
    asker.take(other.sent.at(-1)!)
    await turn()
    // A first wave in which all were stuck, not the second.
    expect(asker.decided).toEqual([undefined, undefined])
  })

  it('answers one query of a process per turn, the newest', async () => {
    const [asker, other] = [new Process(0), new Process(1)]
    asker.agreement.ask()
    const query = asker.sent[0]
    for (let wave = 1; wave <= 1000; wave++) {
      query[word.wave] = wave
      other.take(query)
    }
    await turn()
    expect(other.sent.map((header) => [header[word.step], header[word.wave]])).toEqual([[answer, 1000]])
  })

  it('does not answer once stopped', async () => {
    const [asker, other] = [new Process(0), new Process(1)]
    asker.agreement.ask()
    other.take(asker.sent[0])
    other.agreement.stop()
    await turn()
    expect(other.sent).toEqual([])
  })
})
