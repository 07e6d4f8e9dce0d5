import type { Simulated } from './command.js'
import { figure } from './page-figures.js'

/** One of the two exchanges that README's picture compares. */
interface Exchange extends Simulated {
  readonly name: string
}

const width = 760
const left = 140
const longest = 440
const barHeight = 22

export const messagesOf = ({ messages }: Simulated) =>
  Object.values(messages).reduce((sum, each) => sum + each, 0)

/** Three digits, as README has them. */
export const microsecondsOf = ({ timeUs }: Simulated) => String(Number(timeUs.toPrecision(3)))

/** Draws messages and time of direct sends above those of a plan, each pair of bars from one axis. */
export function gainPicture(direct: Exchange, plan: Exchange): string {
  const charts = [
    { title: 'messages, counted', lengthOf: messagesOf, shownOf: (of: Simulated) => figure(messagesOf(of)) },
    {
      title: 'time until every rank has all of its blocks, simulated',
      lengthOf: ({ timeUs }: Simulated) => timeUs,
      shownOf: (of: Simulated) => `${microsecondsOf(of)} us`,
    },
  ]
  const parts: string[] = []
  let y = 56
  for (const { title, lengthOf, shownOf } of charts) {
    parts.push(`<text x="${left}" y="${y}" class="chart">${title}</text>`)
    y += 10
    const top = y
    for (const exchange of [direct, plan]) {
      const length = (longest * lengthOf(exchange)) / lengthOf(direct)
      parts.push(
        `<text x="${left - 10}" y="${y + 16}" text-anchor="end">${exchange.name}</text>`,
        `<rect x="${left}" y="${y}" width="${length.toFixed(1)}" height="${barHeight}" class="${exchange === plan ? 'plan' : 'direct'}"/>`,
        `<text x="${(left + length + 8).toFixed(1)}" y="${y + 16}">${shownOf(exchange)}</text>`,
      )
      y += barHeight + 6
    }
    parts.push(`<path d="M${left} ${top - 3}V${y - 3}"/>`)
    y += 26
  }
  const height = y - 14
  const title = 'One exchange of 4,096 ranks on 103 nodes: 4 bytes with each of 80 neighbors'
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">`,
    `<title>${title}</title>`,
    '<style>text{font:13px system-ui,sans-serif;fill:#1f2937}.title{font-size:16px;font-weight:600}.chart{font-weight:600}' +
      '.plan{fill:#c2410c}.direct{fill:#94a3b8}path{stroke:#1f2937;fill:none}</style>',
    `<rect width="${width}" height="${height}" fill="#ffffff"/>`,
    `<text x="20" y="28" class="title">${title}</text>`,
    ...parts,
    '</svg>',
    '',
  ].join('\n')
}
