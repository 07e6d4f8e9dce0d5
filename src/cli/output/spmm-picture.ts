import { largestOf } from '../../base/extrema.js'
import { seconds } from './reporter.js'
import { ordinaryName, productName, type SpmmOutcome } from './spmm-report.js'

interface Bar {
  readonly name: string
  readonly seconds: number
  readonly isOurs: boolean
}

const width = 760
const left = 230
const right = 110
const barHeight = 22
const step = 32

/** The times of a product as bars: measured ones above, predicted ones below, each on a scale of its own and labelled. */
export function spmmPicture(outcome: SpmmOutcome): string {
  const { matrix, b, ranks, processes, fabric, measured, predicted, exchange } = outcome
  const isOurs = (name: string) => name !== 'direct' && name !== ordinaryName
  const charts = [
    {
      title: `measured here: the product, ${processes} processes on the ${fabric} fabric`,
      bars: measured.map(({ name, seconds: took }): Bar => ({ name, seconds: took, isOurs: isOurs(name) })),
    },
  ]
  if (predicted !== null) {
    charts.push({
      title: `predicted: one exchange on ${predicted.machine}`,
      bars: predicted.exchanges.flatMap(({ name, timeUs }): Bar[] =>
        timeUs === null ? [] : [{ name, seconds: timeUs / 1e6, isOurs: isOurs(name) }],
      ),
    })
  }
  const parts: string[] = []
  let y = 62
  for (const { title, bars } of charts) {
    parts.push(text(20, y, title, 'chart'))
    y += 14
    const longest = Math.max(largestOf(bars.map((bar) => bar.seconds)), Number.MIN_VALUE)
    for (const bar of bars) {
      const length = Math.max(1, ((width - left - right) * bar.seconds) / longest)
      parts.push(
        `<rect x="${left}" y="${y}" width="${length.toFixed(1)}" height="${barHeight}" class="${bar.isOurs ? 'ours' : 'other'}"/>`,
        text(left - 8, y + 16, productName(bar.name, exchange), 'name'),
        text(left + length + 6, y + 16, seconds(bar.seconds), 'value'),
      )
      y += step
    }
    y += 26
  }
  const of = `${matrix.file ?? 'a generated matrix'}: ${matrix.rows} x ${matrix.cols} times ${b.rows} x ${b.cols}`
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${y}" width="${width}" height="${y}" role="img">`,
    `<title>Sparse times dense on ${ranks} ranks by ${escaped(exchange)}, direct sends and an ordinary allgather</title>`,
    '<style>text{font:13px system-ui,sans-serif;fill:#1f2937}.title{font-size:16px;font-weight:600}.chart{font-weight:600}' +
      '.name{text-anchor:end}.ours{fill:#c2410c}.other{fill:#94a3b8}</style>',
    `<rect width="${width}" height="${y}" fill="#ffffff"/>`,
    text(20, 30, `${of}, ${ranks} ranks, ${exchange}`, 'title'),
    ...parts,
    '</svg>',
    '',
  ].join('\n')
}

function text(x: number, y: number, content: string, kind: string): string {
  return `<text x="${x.toFixed(1)}" y="${y}" class="${kind}">${escaped(content)}</text>`
}

function escaped(content: string): string {
  return content.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;')
}
