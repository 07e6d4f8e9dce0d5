import { expect, it } from 'vitest'
import { spmmPicture } from '../../../../src/cli/output/spmm-picture.js'
import type { SpmmOutcome } from '../../../../src/cli/output/spmm-report.js'

const exchange = `routed:radices=${'2.'.repeat(60)}2`
const outcome = {
  matrix: { file: `${'folder/'.repeat(30)}<A>&B.mtx`, rows: 4096, cols: 4096, nnz: 1 },
  b: { rows: 4096, cols: 8 },
  ranks: 64,
  processes: 64,
  fabric: 'local',
  exchange,
  measured: [
    { name: 'planned', seconds: 0.2 },
    { name: 'direct', seconds: 0.4 },
    { name: 'ordinary allgather', seconds: 0.8 },
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
  const svg = spmmPicture(outcome)
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
