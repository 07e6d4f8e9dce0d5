import { describe, expect, it } from 'vitest'
import { BrokenLinks, lostBy } from '../../../../src/rendezvous/watch/broken-links.js'
import { VirtualClock } from '../../../support/virtual-clock.js'

const links = (...pairs: readonly (readonly [number, number])[]) =>
  pairs.map(([reporter, peer]) => ({ reporter, peer }))

describe('who is lost by broken links', () => {
  it.each([
    ['one report names the lost', links([0, 1]), [1]],
    ['one report, the other way', links([1, 0]), [0]],
    ['both ends report: the higher', links([0, 1], [1, 0]), [1]],
    ['more reports', links([0, 1], [2, 1], [1, 0], [1, 2]), [1]],
    ['the lower with more reports', links([1, 0], [2, 0], [0, 1], [0, 2]), [0]],
    ['two links', links([0, 1], [1, 0], [2, 3], [3, 2]), [3, 1]],
    ['reports of the lost do not count', links([0, 3], [1, 3], [2, 3], [3, 0], [3, 1], [3, 2]), [3]],
    ['one that alone notices that it reaches nobody', links([0, 1], [0, 2], [0, 3]), [0]],
    ['one that says nothing of what others notice', links([1, 0], [2, 0]), [0]],
    ['none', [], []],
  ] as const)('%s', (_, given, expected) => {
    expect(lostBy(given)).toEqual(expected)
  })

  it('leaves no broken link between survivors, and loses nobody without reason', () => {
    // Two halves that cannot reach each other: one of them is lost, and all of it.
    const halves = links(
      ...[0, 1, 2].flatMap((a) => [3, 4, 5].flatMap((b) => [[a, b] as const, [b, a] as const])),
    )
    const lost = lostBy(halves)
    expect(halves.filter(({ reporter, peer }) => !lost.includes(reporter) && !lost.includes(peer))).toEqual(
      [],
    )
    expect([...lost].sort()).toEqual([3, 4, 5])
  })
})

describe('collecting reports', () => {
  function collected() {
    const clock = new VirtualClock()
    const lost: string[] = []
    const broken = new BrokenLinks(clock, 250, (process, reason) => lost.push(`${process}: ${reason}`))
    return { clock, lost, broken }
  }

  it('decides once the window is over, and says who reported what', () => {
    const { clock, lost, broken } = collected()
    broken.report(0, 1, 'reset')
    clock.pass(200)
    broken.report(1, 0, 'closed')
    broken.report(1, 0, 'again')
    expect(lost).toEqual([])
    clock.pass(50)
    expect(lost).toEqual(['1: its connection to process 0 broke: reset'])
    expect(clock.pending).toBe(0)
  })

  it('forgets reports of and about a process that is gone', () => {
    const { clock, lost, broken } = collected()
    broken.report(0, 1, 'reset')
    broken.report(1, 2, 'reset')
    broken.forget(1)
    clock.pass(250)
    expect(lost).toEqual([])
  })
})
