import { countHyperedges, mooreTopology } from 'rankweave/topology'
import { expect, it, vi } from 'vitest'
import { groupProgress, reporter } from '../../../../src/cli/output/reporter.js'
import { secondsText, significant } from '../../../../src/cli/output/result-rows.js'

const topology = mooreTopology({ dims: [8, 8], radius: 2 })

function listen(tickMs: number, showsProgress = true) {
  const said: string[] = []
  let clockMs = 0
  const streams = { stdout: () => {}, stderr: (text: string) => void said.push(text), showsProgress }
  const now = () => {
    clockMs += tickMs
    return clockMs
  }
  return { said, report: reporter(streams, true, now) }
}

it('shows at most one line of progress a second, and makes no other', () => {
  const { said, report } = listen(400)
  let made = 0
  for (let i = 0; i < 20; i++) report.progress(() => `line ${made++}`)
  expect(said.length).toBe(made)
  expect(said.length).toBeGreaterThan(2)
  expect(said.length).toBeLessThan(10)
})

it.each([
  [true, 5000, ['building\n']],
  [true, 0, []],
  [false, 5000, []],
])('terminal %s, %i ms into the command: steps shown are %j', (showsProgress, tickMs, expected) => {
  const { said, report } = listen(tickMs, showsProgress)
  report.step('building')
  report.result({}, '')
  expect(said).toEqual(expected)
})

it('shows a step that is still going on when the command has taken a second', async () => {
  vi.useFakeTimers()
  try {
    const { said, report } = listen(0)
    report.step('reading')
    await vi.advanceTimersByTimeAsync(900)
    report.step('multiplying')
    await vi.advanceTimersByTimeAsync(1100)
    expect(said).toEqual(['multiplying\n'])
  } finally {
    vi.useRealTimers()
  }
})

it('shows a line of progress a minute without a terminal, and notes', () => {
  const { said, report } = listen(25_000, false)
  for (let i = 0; i < 6; i++) report.progress(() => `part ${i}`)
  report.note('wrote plan.jsonl')
  expect(said).toEqual(['part 2\n', 'part 5\n', 'wrote plan.jsonl\n'])
})

it('planning reports how many groups and searches there were', () => {
  const { said, report } = listen(5000)
  const follow = groupProgress(report)
  const begun = { step: 0, groups: 0, searches: 1, activity: 'searching', possible: 0 } as const
  follow(begun)
  follow({ ...begun, step: 1, groups: 1, searches: 4321 })
  follow({ ...begun, groups: 2, searches: 5, activity: 'improving' })
  follow({ ...begun, activity: 'listing', possible: 1 })
  follow({ ...begun, activity: 'solving', possible: 1234 })
  expect(said).toEqual([
    'planning: step 1, 1 search\n',
    'planning: step 2, 4,321 searches, 1 group\n',
    'planning: step 1, improving, 5 searches, 2 groups\n',
    'planning: step 1, listing 1 possible group\n',
    'planning: step 1, choosing among 1,234 possible groups\n',
  ])
})

it('counting reports progress for every block of ranks', () => {
  const seen: [number, number][] = []
  countHyperedges(topology, { k: 2, theta: 2, onRank: (done, all) => seen.push([done, all]) })
  expect(seen.length).toBeGreaterThan(1)
  expect(seen.at(-1)![0]).toBe(seen.at(-1)![1])
})

it('control and format characters of names are printed as escapes', () => {
  const { said, report } = listen(0)
  report.note('plan \u001b[2J by \u009b31m\tX\u007f\u202Eko\nnext line é')
  expect(said).toEqual(['plan \\x1b[2J by \\x9b31m\tX\\x7f\\u202eko\nnext line é\n'])
})

it('times and ratios have three digits, without an exponent where they are long', () => {
  expect([0.0123456, 0.9994, 0.9996, 1.5].map(secondsText)).toEqual(['12.3 ms', '999 ms', '1.00 s', '1.50 s'])
  expect([0.1234, 12.34, 999.4, 999.6, 12_345].map(significant)).toEqual([
    ...['0.123', '12.3', '999', '1,000', '12,345'],
  ])
})
