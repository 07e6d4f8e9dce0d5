import { type Interval, largestOf, smallestOf } from '../../base/search.js'
import { mostAllgatherRanks } from '../../cost/choose/choose-algorithm.js'
import { type Picture, type Shape, shape } from '../../document/picture.js'
import { ordinaryName } from '../../spmm/fastest-exchange.js'
import type { TurnRatio } from '../../spmm/product-times.js'
import type { TopologyStatistics } from '../../topology/topology-statistics.js'
import { change, counted, figure, rangeText, secondsText, significant, table } from './result-rows.js'
import { microseconds } from './simulation-report.js'

/** The relative error above which a product is wrong. */
export const tolerance = 1e-12

/** A product as it was timed on the fabric. */
interface TimedProductOutcome {
  /** The name: `planned`, `direct` or `ordinary allgather`. */
  readonly name: string
  /** The median of the turns. */
  readonly seconds: number
  readonly turnSeconds: readonly number[]
  /** The 95% interval of the median; null for fewer than 6 turns. */
  readonly interval: Interval | null
  readonly gflops: number
  /** The share of the time outside of local products, 0 to 1. */
  readonly communication: number
  /** The number of values that differ from those of the first. */
  readonly differing: number
}

/** An exchange as the simulator predicts it for a machine. */
interface ExchangePrediction {
  readonly name: string
  /** The time; null if it is not simulated: an ordinary allgather of more than {@link mostAllgatherRanks}. */
  readonly timeUs: number | null
}

/** The JSON object of `rankweave spmm --json`. */
export interface SpmmOutcome {
  readonly matrix: {
    readonly file: string | null
    readonly rows: number
    readonly cols: number
    readonly nnz: number
  }
  readonly b: { readonly file: string | null; readonly rows: number; readonly cols: number }
  readonly columns: number
  readonly columnsPerExchange: number
  readonly blockBytes: number
  readonly ranks: number
  readonly processes: number
  readonly fabric: string
  readonly topology: TopologyStatistics
  /** The strategy that was used, as its line of text, or `ordinary allgather`. */
  readonly exchange: string
  readonly strategy: string
  readonly mode: string | null
  readonly k: number | null
  readonly theta: number | null
  readonly messages: {
    readonly direct: number
    /** The messages of the plan; null for an ordinary allgather. */
    readonly planned: number | null
    readonly counted: number | null
    readonly interNode: number | null
  }
  /** The times that `auto` measured before it chose; null if it did not. */
  readonly tried: readonly { readonly name: string; readonly seconds: number }[] | null
  readonly measured: readonly TimedProductOutcome[]
  /** The first product compared with each of the others. */
  readonly comparison: readonly TurnRatio[]
  readonly predicted: { readonly machine: string; readonly exchanges: readonly ExchangePrediction[] } | null
  /** The largest relative error; null without a check. */
  readonly maxRelativeError: number | null
  readonly verified: boolean | null
  readonly seconds: {
    readonly plan: number | null
    readonly total: number
  }
}

/** Returns the name of a product or exchange in reports. @param exchange that the first product used */
export function productName(name: string, exchange: string): string {
  if (name === 'planned') return exchange === ordinaryName ? `${ordinaryName}, chosen` : 'neighbor allgather'
  return name === 'direct' ? 'direct sends' : name
}

export function spmmText(outcome: SpmmOutcome): string {
  const { matrix, b, topology, messages, ranks, processes, measured, predicted, exchange } = outcome
  const { degree } = topology
  const exchanges = Math.ceil(b.cols / outcome.columnsPerExchange)
  const lines = [
    `C = A x B on ${counted(ranks, 'rank', 'ranks')}, ${counted(processes, 'process', 'processes')}, ${outcome.fabric} fabric`,
    '',
    table([
      [
        'A',
        `${figure(matrix.rows)} x ${figure(matrix.cols)}, ${figure(matrix.nnz)} entries, ${matrix.file ?? 'generated'}`,
      ],
      ['B', `${figure(b.rows)} x ${figure(b.cols)}, ${b.file ?? 'generated'}`],
      ['topology', `${figure(topology.edges)} edges, out-degree ${rangeText(degree)}`],
      ['plan', planText(outcome)],
      [
        'messages',
        messages.planned === null
          ? null
          : `${figure(messages.direct)} direct, ${figure(messages.planned)} planned (${change(messages.planned, messages.direct)}), ${figure(messages.counted ?? 0)} counted`,
      ],
      [
        'between nodes',
        messages.interNode === null ? null : `${figure(messages.interNode)} planned messages`,
      ],
      ['exchanges', `${exchanges}, up to ${outcome.columnsPerExchange} columns of B each`],
      ['check', checkText(outcome)],
    ]),
    '',
    `measured here, ${counted(processes, 'process', 'processes')} on the ${outcome.fabric} fabric, ${turnsText(outcome)}`,
    '',
    table(
      measured.map(({ name, seconds: took, interval, gflops, communication }) => [
        productName(name, exchange),
        `${secondsText(took)}${spreadText(interval)}, ${significant(gflops)} GFLOP/s, ${Math.round(100 * communication)}% communication`,
      ]),
    ),
    ...comparisonLines(outcome),
    ...summaryLines(outcome),
  ]
  if (predicted === null) return lines.join('\n')
  return [
    ...lines,
    '',
    `predicted for ${predicted.machine}, one exchange`,
    '',
    table(
      predicted.exchanges.map(({ name, timeUs }) => [productName(name, exchange), predictedText(timeUs)]),
    ),
  ].join('\n')
}

/** Returns `15 turns each, median [95% interval]`. */
function turnsText({ measured: [{ turnSeconds, interval }] }: SpmmOutcome): string {
  const turns = counted(turnSeconds.length, 'turn', 'turns')
  return `${turns} each, median${interval === null ? '' : ' [95% interval]'}`
}

/** Returns ` [35.2 ms, 39.1 ms]`, or nothing without an interval. */
function spreadText(interval: Interval | null): string {
  return interval === null ? '' : ` [${interval.map(secondsText).join(', ')}]`
}

/** Returns `faster than direct sends`. */
function verdictText({ name, verdict }: TurnRatio): string {
  const other = name === ordinaryName ? `an ${name}` : productName(name, '')
  return verdict === 'no difference seen' ? `${verdict} from ${other}` : `${verdict} than ${other}`
}

/** Returns `2.41 times as fast [2.12, 2.93]`. */
function ratioText({ ratio, interval }: TurnRatio): string {
  const spread =
    interval === null ? ', too few turns for an interval' : ` [${interval.map(significant).join(', ')}]`
  return `${significant(ratio)} times as fast${spread}`
}

/** Returns the title above verdicts and ratios. */
function comparisonTitle({ exchange }: SpmmOutcome): string {
  return `${productName('planned', exchange)} compared turn by turn, median [95% interval]`
}

function comparisonLines(outcome: SpmmOutcome): readonly string[] {
  const { comparison } = outcome
  if (comparison.length === 0) return []
  const rows = comparison.map((each) => [verdictText(each), ratioText(each)] as const)
  return ['', comparisonTitle(outcome), '', table(rows)]
}

/** Returns one sentence on what this run saw of a plan compared with direct sends; none where the plan is direct. */
function summaryLines({ messages, comparison, verified }: SpmmOutcome): readonly string[] {
  const { direct, counted: sent } = messages
  const compared = comparison.find(({ name }) => name === 'direct')
  if (sent === null || sent === direct || compared === undefined || verified === false) return []
  const { interval, ratio, verdict } = compared
  const spread =
    interval === null ? 'too few turns' : `95% interval ${interval.map(significant).join(' to ')}`
  const seen =
    verdict === 'no difference seen'
      ? 'no difference in time from direct sends was seen'
      : `the product was ${significant(ratio)} times as fast as with direct sends`
  const ofMessages = `the plan sent ${figure(sent)} messages instead of ${figure(direct)}`
  return ['', `In this run ${ofMessages}, and ${seen} (${spread}).`]
}

function predictedText(timeUs: number | null): string {
  if (timeUs !== null) return microseconds(timeUs)
  return `not simulated beyond ${figure(mostAllgatherRanks)} ranks`
}

function planText({ exchange, k, theta, mode, strategy, seconds: { plan }, tried }: SpmmOutcome): string {
  const how = mode !== null && k !== null ? `${strategy}, k=${k}, theta=${theta}, ${mode}` : exchange
  const made = plan === null ? '' : `, made in ${secondsText(plan)}`
  return `${how}${made}${tried === null ? '' : `, chosen among ${tried.length} tried`}`
}

function checkText(outcome: SpmmOutcome): string {
  const { verified, maxRelativeError, messages } = outcome
  if (verified === null) return 'left out'
  if (verified) return `passed, max relative error ${maxRelativeError}`
  if ((maxRelativeError ?? 0) > tolerance)
    return `FAILED, max relative error ${maxRelativeError} compared with the serial product`
  const differing = outcome.measured.find((one) => one.differing > 0)
  if (differing !== undefined)
    return `FAILED, ${figure(differing.differing)} numbers by ${productName(differing.name, outcome.exchange)} differ`
  return `FAILED, ${figure(messages.counted ?? 0)} messages sent, ${figure(messages.planned ?? 0)} planned`
}

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
export function spmmPicture(outcome: SpmmOutcome): Picture {
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
  const parts: Shape[] = []
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
        shape('rect', {
          ...{ x: margin, y: y + 6, width: length.toFixed(1), height: barHeight },
          class: isFastest ? 'fastest' : 'other',
        }),
        text(margin + end + 6, y + 19, shown, 'value'),
      )
      if (interval !== null) parts.push(whiskers(margin + lengthOf(interval[0]), margin + end, y + 6))
      y += step
    }
    y += 20
  }
  const of = `${figure(matrix.rows)} x ${figure(matrix.cols)} times ${figure(b.rows)} x ${figure(b.cols)}`
  const subject = `Sparse times dense on ${figure(ranks)} ranks by ${exchange}, direct sends and an ordinary allgather: ${matrix.file ?? 'a generated matrix'}`
  return {
    ...{ width, height: y, attributes: { role: 'img' } },
    shapes: [
      shape('title', {}, subject),
      shape('style', {}, style),
      shape('rect', { width, height: y, fill: '#ffffff' }),
      text(margin, 30, `${of}, ${figure(ranks)} ranks`, 'title'),
      text(margin, 50, cut(matrix.file ?? 'a generated matrix', mostCharacters), 'name'),
      ...parts,
    ],
  }
}

const style =
  'text{font:13px system-ui,sans-serif;fill:#1f2937}.title{font-size:16px;font-weight:600}.chart{font-weight:600}' +
  '.fastest{fill:#c2410c}.other{fill:#94a3b8}path{stroke:#1f2937;fill:none}'

/** Draws an interval as a line with an end at each side, in the middle of a bar that begins at `top`. */
function whiskers(low: number, high: number, top: number): Shape {
  const [from, to] = [low.toFixed(1), high.toFixed(1)]
  return shape('path', { d: `M${from} ${top + 4}v8M${to} ${top + 4}v8M${from} ${top + 8}H${to}` })
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

function text(x: number, y: number, content: string, kind: string): Shape {
  return shape('text', { x: x.toFixed(1), y, class: kind }, content)
}
