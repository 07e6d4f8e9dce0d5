import { expect, it } from 'vitest'
import { type SpmmOutcome, spmmPicture } from '../../../../src/cli/output/spmm-report.js'
import { svgText } from '../../../../src/document/picture.js'

const exchange = `routed:radices=${'2.'.repeat(60)}2`
const outcome = {
  matrix: { file: `${'folder/'.repeat(30)}<A>&B.mtx`, rows: 4096, cols: 4096, nnz: 1 },
  b: { rows: 4096, cols: 8 },
  ranks: 64,
  processes: 64,
  fabric: 'local',
  exchange,
  measured: [
    { name: 'planned', seconds: 0.2, interval: [0.1, 0.3], turnSeconds: [0.2] },
    { name: 'direct', seconds: 0.4, interval: [0.4, 0.6], turnSeconds: [0.4] },
    { name: 'ordinary allgather', seconds: 0.8, interval: [0.4, 0.8], turnSeconds: [0.8] },
  ],
  comparison: [
    { name: 'direct', ratio: 2, interval: [1.5, 2.5], verdict: 'faster' },
    { name: 'ordinary allgather', ratio: 4, interval: [3, 5], verdict: 'faster' },
  ],
  predicted: {
    machine: 'cluster:nodes=16,cores=4,profile=simgrid-fast',
    exchanges: [
      { name: 'planned', timeUs: 10.3 },
      { name: 'ordinary allgather', timeUs: null },
    ],
  },
} as unknown as SpmmOutcome

it('the picture has every text within its width, bars in proportion, and no markup of file names', () => {
  const svg = svgText(spmmPicture(outcome))
  const texts = [...svg.matchAll(/<text [^>]*>([^<]*)<\/text>/g)].map(([, text]) =>
    text.replace(/&\w+;/g, '?'),
  )
  // As many characters of the smaller fonts as the picture is wide.
  expect(Math.max(...texts.map(({ length }) => length))).toBe(83)
  const bars = [...svg.matchAll(/<rect x="20" [^>]*width="([\d.]+)"/g)].map(([, wide]) => Number(wide))
  expect(bars).toEqual([155, 310, 620, 620])
  expect(svg).toContain('&lt;A&gt;&amp;B.mtx')
  expect(svg).not.toContain('<A>')
  expect(svg).toContain('10.3 us')
})

const colored = (of: SpmmOutcome) =>
  [...svgText(spmmPicture(of)).matchAll(/class="(fastest|other)"/g)].map(([, kind]) => kind)

it('an interval is drawn as a line on the scale of its bar', () => {
  const lines = [...svgText(spmmPicture(outcome)).matchAll(/<path d="M([\d.]+) .*H([\d.]+)"/g)]
  expect(lines.map(([, from, to]) => [Number(from), Number(to)])).toEqual([
    [97.5, 252.5],
    [330, 485],
    [330, 640],
  ])
})

it('the product is colored where it is faster than every other, and only there', () => {
  expect(colored(outcome).slice(0, 3)).toEqual(['fastest', 'other', 'other'])
  const [direct, ordinary] = outcome.comparison
  for (const verdict of ['slower', 'no difference seen'] as const) {
    const comparison = [direct, { ...ordinary, verdict }]
    expect(colored({ ...outcome, comparison }).slice(0, 3)).toEqual(['other', 'other', 'other'])
  }
  expect(colored({ ...outcome, comparison: [] }).slice(0, 3)).toEqual(['other', 'other', 'other'])
})

it('the verdicts stand in the picture', () => {
  const svg = svgText(spmmPicture(outcome))
  expect(svg).toContain('faster than direct sends, 2.00 times as fast [1.50, 2.50]')
  expect(svg).toContain('neighbor allgather compared turn by turn')
})
