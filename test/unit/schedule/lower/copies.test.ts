import { algorithmOf, lower, plan, type Schedule, scheduleOf } from 'rankweave/schedule'
import { describe, expect, it } from 'vitest'
import { copiesOf } from '../../../../src/schedule/lower/value-memory.js'
import { upTo } from '../../../../src/schedule/specification.js'
import { buildTopology } from '../../../../src/topology/files/topology-from-spec.js'

/** What every process of a schedule copies, with one rank each unless placed otherwise. */
function copies(schedule: Schedule, placement = upTo(schedule.specification.ranks)) {
  return lower(schedule, placement).programs.map((program) => copiesOf(schedule, program))
}

const of = (id: string, ranks: number, segments = 1) => scheduleOf(algorithmOf(id), { ranks, segments })
const frames = (
  each: readonly { readonly isSentInPlace: Uint8Array; readonly isReceivedInPlace: Uint8Array }[],
) => each.map(({ isSentInPlace, isReceivedInPlace }) => [[...isSentInPlace], [...isReceivedInPlace]])

describe('copies', () => {
  it('of an allgather by recursive doubling are those of own blocks: what is sent lies side by side', () => {
    const each = copies(of('allgather-recursive-doubling', 8))
    expect(frames(each)).toEqual(
      Array(8).fill([
        [1, 1, 1],
        [1, 1, 1],
      ]),
    )
    expect(each.map(({ toSlots }) => [...toSlots])).toEqual(Array(8).fill([0]))
  })

  it("of an allgather by Bruck's algorithm are of frames that go round the end of the receive buffer", () => {
    const each = copies(of('allgather-bruck', 5))
    // In its second step rank 4 sends blocks 4 and 0 to rank 2; frames hold their blocks ascending.
    const inPlace = [1, 1, 1]
    expect(frames(each)).toEqual([
      [inPlace, inPlace],
      [inPlace, inPlace],
      [inPlace, [1, 0, 1]],
      [inPlace, inPlace],
      [[1, 0, 1], inPlace],
    ])
  })

  it('of an alltoall by Bruck are of most frames, of a pairwise one of none', () => {
    const bruck = copies(of('alltoall-bruck', 8))
    expect(bruck.flatMap(({ isSentInPlace }) => [...isSentInPlace])).toContain(0)
    for (const { isSentInPlace, isReceivedInPlace } of copies(of('alltoall-pairwise', 8))) {
      expect(isSentInPlace).not.toContain(0)
      expect(isReceivedInPlace).not.toContain(0)
    }
  })

  it('of a scatter down a binomial tree are none of the root for rank 0: its send buffer is in the order of ranks', () => {
    const [root] = copies(of('scatter-binomial', 8))
    expect([...root!.isSentInPlace]).toEqual([1, 1, 1])
  })

  it('are of frames with what two ranks of a process contribute: these are two buffers', () => {
    const [first] = copies(of('gather-linear', 4), Int32Array.of(1, 0, 0, 1))
    expect([...first!.isSentInPlace]).toEqual([0])
  })

  it('of neighborhood collectives are of all frames with several blocks', () => {
    const { schedule } = plan(buildTopology('moore:4x4:r=1'), { kind: 'routed' })
    const programs = lower(schedule, upTo(16)).programs
    for (const [process, { isSentInPlace }] of copies(schedule).entries()) {
      const { valueStart } = programs[process]!.send
      expect([...isSentInPlace]).toEqual(
        Array.from(isSentInPlace, (_, frame) => Number(valueStart[frame + 1]! - valueStart[frame]! <= 1)),
      )
    }
  })
})
