import { largestOf } from '../../base/search.js'
import { ordinaryName } from '../../spmm/fastest-exchange.js'
import { escapeXml } from '../../text/printable.js'
import { figure, secondsText } from './reporter.js'
import { microseconds } from './simulation-report.js'
import { productName, type SpmmOutcome } from './spmm-report.js'

interface Bar {
  readonly name: string
  readonly value: number
  readonly shown: string
  readonly isOurs: boolean
}

const width = 760
const margin = 20
/** Room behind the longest bar for its value. */
const right = 120
const barHeight = 16
/** From one bar to the next: a line with its name, and the bar. */
const step = 42
/** Characters of the smallest font that fit between the margins, whatever the font is. */
const mostCharacters = 84

/**
 * The times of a product as bars: measured ones above, predicted ones below, each on its own scale and
 * labelled. A name stands above its bar, so that it may be as long as the picture is wide; what is longer is
 * cut.
 */
export function spmmPicture(outcome: SpmmOutcome): string {
  const { matrix, b, ranks, processes, fabric, measured, predicted, exchange } = outcome
  const barOf = (name: string, value: number, shown: string): Bar => {
    const isChosen = name === 'planned' && exchange !== ordinaryName
    const isOurs = name !== 'direct' && name !== ordinaryName
    return { name: `${productName(name, exchange)}${isChosen ? `, ${exchange}` : ''}`, value, shown, isOurs }
  }
  const charts = [
    {
      title: `measured here: the product, ${figure(processes)} processes on the ${fabric} fabric`,
      bars: measured.map(({ name, seconds: took }) => barOf(name, took, secondsText(took))),
    },
  ]
  if (predicted !== null) {
    charts.push({
      title: `predicted: one exchange on ${predicted.machine}`,
      bars: predicted.exchanges.flatMap(({ name, timeUs }) =>
        timeUs === null ? [] : [barOf(name, timeUs, microseconds(timeUs))],
      ),
    })
  }
  const parts: string[] = []
  let y = 82
  for (const { title, bars } of charts) {
    parts.push(text(margin, y, cut(title, mostCharacters), 'chart'))
    y += 24
    const longest = Math.max(largestOf(bars.map(({ value }) => value)), Number.MIN_VALUE)
    for (const { name, value, shown, isOurs } of bars) {
      const length = Math.max(1, ((width - margin - right) * value) / longest)
      parts.push(
        text(margin, y, cut(name, mostCharacters), 'name'),
        `<rect x="${margin}" y="${y + 6}" width="${length.toFixed(1)}" height="${barHeight}" class="${isOurs ? 'ours' : 'other'}"/>`,
        text(margin + length + 6, y + 19, shown, 'value'),
      )
      y += step
    }
    y += 20
  }
  const of = `${figure(matrix.rows)} x ${figure(matrix.cols)} times ${figure(b.rows)} x ${figure(b.cols)}`
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${y}" width="${width}" height="${y}" role="img">`,
    `<title>${escapeXml(`Sparse times dense on ${figure(ranks)} ranks by ${exchange}, direct sends and an ordinary allgather: ${matrix.file ?? 'a generated matrix'}`)}</title>`,
    '<style>text{font:13px system-ui,sans-serif;fill:#1f2937}.title{font-size:16px;font-weight:600}.chart{font-weight:600}' +
      '.ours{fill:#c2410c}.other{fill:#94a3b8}</style>',
    `<rect width="${width}" height="${y}" fill="#ffffff"/>`,
    text(margin, 30, `${of}, ${figure(ranks)} ranks`, 'title'),
    text(margin, 50, cut(matrix.file ?? 'a generated matrix', mostCharacters), 'name'),
    ...parts,
    '</svg>',
    '',
  ].join('\n')
}

/** The end of a text matters as much as its beginning: of a path, and of a machine with its profile. */
function cut(content: string, most: number): string {
  const characters = [...content]
  if (characters.length <= most) return content
  const half = Math.floor((most - 3) / 2)
  return `${characters.slice(0, half).join('')}...${characters.slice(-half).join('')}`
}

function text(x: number, y: number, content: string, kind: string): string {
  return `<text x="${x.toFixed(1)}" y="${y}" class="${kind}">${escapeXml(content)}</text>`
}
