import type { Interval } from '../../base/median-interval.js'
import { largestOf, smallestOf } from '../../base/search.js'
import { ordinaryName } from '../../spmm/fastest-exchange.js'
import { escapeXml } from '../../text/printable.js'
import { figure, secondsText } from './reporter.js'
import { microseconds } from './simulation-report.js'
import {
  comparisonTitle,
  productName,
  ratioText,
  type SpmmOutcome,
  turnsText,
  verdictText,
} from './spmm-report.js'

interface Bar {
  readonly name: string
  readonly value: number
  readonly shown: string
  /** The interval of the median, drawn as a line over the end of the bar. */
  readonly interval: Interval | null
  readonly isFastest: boolean
}

const width = 760
const margin = 20
/** The room behind the longest bar for its value. */
const right = 120
const barHeight = 16
/** The distance from one bar to the next: a line with its name, and the bar. */
const step = 42
/** The number of characters of the smallest font that fit between the margins, whatever the font is. */
const mostCharacters = 84

/**
 * Draws the times of a product as bars: measured ones above, predicted ones below, each with a scale and labels. A name
 * stands above its bar, so that it may be as long as the picture is wide; longer names are cut. A measured bar is a
 * median with its 95% interval. The fastest bar is colored: the first measured one, if it is faster than all others by
 * {@link turnRatios}, and the shortest predicted one.
 */
export function spmmPicture(outcome: SpmmOutcome): string {
  const { matrix, b, ranks, processes, fabric, measured, comparison, predicted, exchange } = outcome
  const nameOf = (name: string) =>
    `${productName(name, exchange)}${name === 'planned' && exchange !== ordinaryName ? `, ${exchange}` : ''}`
  const wins = comparison.length > 0 && comparison.every(({ verdict }) => verdict === 'faster')
  const charts: { title: string; notes: readonly string[]; bars: readonly Bar[] }[] = [
    {
      title: `measured here: the product, ${figure(processes)} processes on the ${fabric} fabric`,
      notes: [
        turnsText(outcome),
        ...(comparison.length === 0 ? [] : [comparisonTitle(outcome)]),
        ...comparison.map((each) => `${verdictText(each)}, ${ratioText(each)}`),
      ],
      bars: measured.map(({ name, seconds: took, interval }, i) => ({
        name: nameOf(name),
        value: took,
        shown: secondsText(took),
        interval,
        isFastest: wins && i === 0,
      })),
    },
  ]
  if (predicted !== null) {
    const exchanges = predicted.exchanges.flatMap(({ name, timeUs }) =>
      timeUs === null ? [] : [{ name, timeUs }],
    )
    const least = smallestOf(exchanges.map(({ timeUs }) => timeUs))
    charts.push({
      title: `predicted: one exchange on ${predicted.machine}`,
      notes: [],
      bars: exchanges.map(({ name, timeUs }) => ({
        name: nameOf(name),
        value: timeUs,
        shown: microseconds(timeUs),
        interval: null,
        isFastest: timeUs === least,
      })),
    })
  }
  const parts: string[] = []
  let y = 82
  for (const { title, notes, bars } of charts) {
    parts.push(text(margin, y, cut(title, mostCharacters), 'chart'))
    y += 20
    for (const note of notes) {
      parts.push(text(margin, y, cut(note, mostCharacters), 'note'))
      y += 18
    }
    y += 8
    const longest = Math.max(
      largestOf(bars.map(({ value, interval }) => interval?.[1] ?? value)),
      Number.MIN_VALUE,
    )
    const lengthOf = (value: number) => Math.max(1, ((width - margin - right) * value) / longest)
    for (const { name, value, shown, interval, isFastest } of bars) {
      const length = lengthOf(value)
      const end = interval === null ? length : lengthOf(interval[1])
      parts.push(
        text(margin, y, cut(name, mostCharacters), 'name'),
        `<rect x="${margin}" y="${y + 6}" width="${length.toFixed(1)}" height="${barHeight}" class="${isFastest ? 'fastest' : 'other'}"/>`,
        text(margin + end + 6, y + 19, shown, 'value'),
      )
      if (interval !== null) parts.push(whiskers(margin + lengthOf(interval[0]), margin + end, y + 6))
      y += step
    }
    y += 20
  }
  const of = `${figure(matrix.rows)} x ${figure(matrix.cols)} times ${figure(b.rows)} x ${figure(b.cols)}`
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${y}" width="${width}" height="${y}" role="img">`,
    `<title>${escapeXml(`Sparse times dense on ${figure(ranks)} ranks by ${exchange}, direct sends and an ordinary allgather: ${matrix.file ?? 'a generated matrix'}`)}</title>`,
    '<style>text{font:13px system-ui,sans-serif;fill:#1f2937}.title{font-size:16px;font-weight:600}.chart{font-weight:600}' +
      '.fastest{fill:#c2410c}.other{fill:#94a3b8}path{stroke:#1f2937;fill:none}</style>',
    `<rect width="${width}" height="${y}" fill="#ffffff"/>`,
    text(margin, 30, `${of}, ${figure(ranks)} ranks`, 'title'),
    text(margin, 50, cut(matrix.file ?? 'a generated matrix', mostCharacters), 'name'),
    ...parts,
    '</svg>',
    '',
  ].join('\n')
}

/** Draws an interval as a line with an end at each side, in the middle of a bar that begins at `top`. */
function whiskers(low: number, high: number, top: number): string {
  const [from, to] = [low.toFixed(1), high.toFixed(1)]
  return `<path d="M${from} ${top + 4}v8M${to} ${top + 4}v8M${from} ${top + 8}H${to}"/>`
}

/**
 * Cuts a text in its middle. Its end matters as much as its beginning for a path, and for a machine with its profile.
 */
function cut(content: string, most: number): string {
  const characters = [...content]
  if (characters.length <= most) return content
  const half = Math.floor((most - 3) / 2)
  return `${characters.slice(0, half).join('')}...${characters.slice(-half).join('')}`
}

function text(x: number, y: number, content: string, kind: string): string {
  return `<text x="${x.toFixed(1)}" y="${y}" class="${kind}">${escapeXml(content)}</text>`
}
