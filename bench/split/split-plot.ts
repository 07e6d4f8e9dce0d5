import type { SorterRow } from './paper-method.js'
import { paperTable, sorterCounts } from './paper-table.js'

const area = { width: 640, height: 440, left: 64, right: 20, top: 40, bottom: 56 }
const colors = ['#c2410c', '#7c3aed', '#1d4ed8', '#047857', '#be185d']
const million = 2 ** 20

/**
 * Total seconds by number of sorters, one line per number of entries, the paper's dashed; both axes
 * logarithmic.
 */
export function splitPlot(rows: readonly SorterRow[]): string {
  const sizes = [...new Set(rows.map(({ entries }) => entries))].sort((a, b) => a - b)
  const papers = sizes.map((n) => paperTable[n / million]?.total ?? [])
  const values = [...rows.map(({ total }) => total), ...papers.flat()].map(Math.log10)
  const from = Math.floor(Math.min(...values))
  const to = Math.ceil(Math.max(...values))
  const x = (p: number) => area.left + ((Math.log2(p) - 1) / 5) * (area.width - area.left - area.right)
  const y = (seconds: number) =>
    area.height -
    area.bottom -
    ((Math.log10(seconds) - from) / (to - from)) * (area.height - area.top - area.bottom)
  const parts = [text(area.width / 2, 24, 'Split by parallel sort: seconds on the critical path', 'middle')]
  for (let power = from; power <= to; power++) {
    const at = y(10 ** power)
    parts.push(
      `<line x1="${area.left}" y1="${at}" x2="${area.width - area.right}" y2="${at}" stroke="#e5e7eb"/>`,
    )
    parts.push(text(area.left - 8, at + 4, String(Number((10 ** power).toPrecision(1))), 'end'))
  }
  for (const p of sorterCounts) parts.push(text(x(p), area.height - area.bottom + 20, String(p), 'middle'))
  parts.push(
    text(
      area.width / 2,
      area.height - 12,
      'sorters; dashed: the paper, on 120 POWER5+ nodes of 2005',
      'middle',
    ),
  )
  for (const [i, n] of sizes.entries()) {
    const color = colors[i % colors.length]
    const ours = rows.filter((row) => row.entries === n).sort((a, b) => a.sorters - b.sorters)
    parts.push(
      curve(
        ours.map(({ sorters, total }) => [x(sorters), y(total)]),
        color,
        '',
      ),
    )
    parts.push(
      curve(
        papers[i].map((total, k) => [x(sorterCounts[k]), y(total)]),
        color,
        'stroke-dasharray="5 4"',
      ),
    )
    parts.push(
      text(
        area.width - area.right - 4,
        area.top + 14 + 16 * i,
        `${n / million}M entries`,
        'end',
        `fill="${color}"`,
      ),
    )
  }
  const size = `width="${area.width}" height="${area.height}"`
  return `<svg xmlns="http://www.w3.org/2000/svg" ${size} font-family="sans-serif" font-size="12">
<title>Split by parallel sort: seconds on the critical path by number of sorters</title>
<rect width="100%" height="100%" fill="white"/>
${parts.join('\n')}
</svg>
`
}

function curve(points: readonly (readonly number[])[], color: string, more: string): string {
  const path = points.map(([a, b]) => `${a.toFixed(1)},${b.toFixed(1)}`).join(' ')
  return `<polyline points="${path}" fill="none" stroke="${color}" stroke-width="2" ${more}/>`
}

function text(x: number, y: number, words: string, anchor: string, more = ''): string {
  return `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" text-anchor="${anchor}" ${more}>${words}</text>`
}
