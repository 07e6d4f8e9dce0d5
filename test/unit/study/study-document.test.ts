import { describe, expect, it } from 'vitest'
import {
  bytesText,
  cellText,
  type Document,
  numberText,
  plotsOf,
  type Table,
} from '../../../src/document/document.js'
import { htmlOf } from '../../../src/document/html.js'
import { markdownOf } from '../../../src/document/markdown.js'
import { svgText } from '../../../src/document/picture.js'
import { plotPicture } from '../../../src/document/plot-picture.js'
import { parseMachine } from '../../../src/machine/machine-text.js'
import { parseStrategy } from '../../../src/neighborhood/strategies/strategies.js'
import { makeStudy } from '../../../src/study/make-study.js'
import { measurableLengths, measurementsOf, type Study } from '../../../src/study/study.js'
import { studyDocument, verdictOf } from '../../../src/study/study-document.js'
import { buildTopology } from '../../../src/topology/files/topology-from-spec.js'
import { elementsOf } from '../../support/well-formed-xml.js'

const simulated = makeStudy(
  buildTopology('moore:4x4:r=1'),
  parseMachine('cluster:nodes=4,cores=4,profile=simgrid-fast'),
  {
    name: 'moore:4x4:r=1 <"&|>',
    bytes: [0, 4, 4096],
    strategies: [
      parseStrategy('cartesian:windows=3/3,order=1.0'),
      parseStrategy('cumulative:k=2,mode=aware'),
    ],
  },
)
const measured = measurementsOf(
  simulated.strategies.flatMap(({ strategy }, s) =>
    [0, 4].map((bytes) => ({ strategy, bytes, microseconds: [31.25 + s, 11.5 + s, 21.75 + s + bytes] })),
  ),
  { fabric: 'local', processes: 1, processor: 'one', processors: 2, runs: 3, bytes: [0, 4], tooLong: [4096] },
)
const study: Study = {
  ...simulated,
  measurements: measured,
  leftOut: [{ strategy: 'descending:ks=2,mode=aware', reason: 'planning took more than 10 s' }],
}
const document = studyDocument(study)

const tablesOf = ({ sections }: Document): Table[] =>
  sections.flatMap(({ parts }) => parts.flatMap((part) => (part.kind === 'table' ? [part] : [])))

/** All numbers in a value, however deep. */
function numbersIn(value: unknown): number[] {
  if (typeof value === 'number') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(numbersIn) : []
}

/** Figures of an origin, as tables print them. */
const simulatedTexts = new Set(
  study.strategies.flatMap((each) => each.simulated.map(({ timeUs }) => numberText(timeUs))),
)
const measuredTexts = new Set(
  measured.strategies.flatMap(({ times }) =>
    times.flatMap(({ medianUs, minUs, maxUs }) => [medianUs, minUs, maxUs].map(numberText)),
  ),
)

describe('the verdict of a study', () => {
  const { subject, fastest, verdict } = simulated
  const machine = 'cluster:nodes=4,cores=4,profile=simgrid-fast'

  it('names strategy, machine, gains and calls to break even, and begins the document', () => {
    expect(verdict).toMatch(
      /^Simulated on cluster:nodes=4,cores=4,profile=simgrid-fast, \S+ is [\d.]+ times as fast as direct sends(?: and|, though) .* an ordinary allgather with blocks of \d \w+, and breaks even after [\d,]+ calls?[;.]/,
    )
    expect(document.text[0]).toBe(verdict)
  })

  it('says that nothing gains, and that an ordinary allgather is faster', () => {
    const none = fastest.map((each) => ({ ...each, strategy: 'direct', speedup: 1 }))
    expect(verdictOf(subject, none)).toBe(
      `Simulated on ${machine}, no strategy studied is faster than direct sends with blocks of 0 B, 4 B, 4 KiB: keep direct sends.`,
    )
    const dense = fastest.map((each, i) => ({
      ...{ ...each, strategy: 'routed', breakEvenStarts: 123 },
      ...{ speedup: i === 1 ? 2 : 1, speedupOverAllgather: 0.5 },
    }))
    expect(verdictOf(subject, dense)).toBe(
      `Simulated on ${machine}, routed is 2 times as fast as direct sends, though it takes 2 times as long as an ordinary allgather with blocks of 4 B, and breaks even after 120 calls; with blocks of 0 B, 4 KiB keep direct sends.`,
    )
  })

  it('of a recorded program is about its blocks, and says whether the program gets the strategy', () => {
    const of = { ...subject, recordedBytes: [4096] }
    const gaining = fastest.map((each) => ({
      ...each,
      strategy: 'routed',
      speedup: 3,
      inProgram: 'no' as const,
    }))
    expect(verdictOf(of, gaining)).toMatch(/ with blocks of 4 KiB, and breaks even .*; in an MPI program: /)
  })
})

describe('the document of a study', () => {
  it('never has simulated and measured figures in one table, plot or section of times', () => {
    for (const { parts } of document.sections) {
      const found = new Set(parts.map(({ origin }) => origin))
      expect(found.has('simulated') && found.has('measured')).toBe(false)
    }
    for (const table of tablesOf(document)) {
      const texts = table.rows
        .flat()
        .filter((cell) => typeof cell === 'number')
        .map(cellText)
      const hasSimulated = texts.some((text) => simulatedTexts.has(text))
      const hasMeasured = texts.some((text) => measuredTexts.has(text))
      if (table.origin === 'simulated') expect(hasMeasured, table.title).toBe(false)
      if (table.origin === 'measured') expect(hasSimulated, table.title).toBe(false)
    }
  })

  it('names an origin and its source at every table and plot, in Markdown, HTML and SVG', () => {
    const page = [...markdownOf(document, { plotFile: ({ name }) => `${name}.svg` })].join('')
    const parts = document.sections.flatMap((section) => section.parts)
    expect(page.match(/^\*\*.*\((SIMULATED|MEASURED|COUNTED|DERIVED): .+\)$/gm)).toHaveLength(parts.length)
    const html = [...htmlOf(document)].join('')
    expect(html.match(/<span class="mark /g)).toHaveLength(tablesOf(document).length)
    for (const plot of plotsOf(document))
      expect(svgText(plotPicture(plot))).toContain(`${plot.origin.toUpperCase()}: `)
  })

  it('has no number in a table that is not in the object', () => {
    const known = new Set(numbersIn(study))
    for (const { title, rows } of tablesOf(document))
      for (const cell of rows.flat())
        if (typeof cell === 'number') expect(known, `${title}: ${cell}`).toContain(cell)
  })

  it('prints every cell in Markdown and in HTML', () => {
    const page = [...markdownOf(document)].join('')
    const html = [...htmlOf(document)].join('')
    for (const { rows, columns } of tablesOf(document)) {
      for (const row of rows) {
        expect(row).toHaveLength(columns.length)
        const texts = row.map(cellText)
        const line = page.split('\n').find((words) => {
          const cells = words.split(' | ').map((text) => text.replace(/^\|/, '').replace(/\|$/, '').trim())
          return JSON.stringify(cells) === JSON.stringify(texts)
        })
        expect(line, texts.join()).toBeDefined()
        for (const text of texts) expect(html).toContain(`>${text}</td>`)
      }
    }
  })

  it('is well-formed, escapes names, and refers to nothing outside', () => {
    const html = [...htmlOf(document)].join('')
    const elements = elementsOf(html)
    expect(elements.filter((name) => name === 'svg')).toHaveLength(plotsOf(document).length)
    expect(elements).not.toContain('script')
    expect(html).not.toMatch(/(?:src|href)=/)
    expect(html).toContain('moore:4x4:r=1 &lt;&quot;&amp;|&gt;')
    const page = [...markdownOf(document)].join('')
    expect(page).toContain('# moore:4x4:r=1 \\<"&\\|> on cluster')
    const names = plotsOf(document).map(({ name }) => name)
    expect(new Set(names).size).toBe(names.length)
    for (const plot of plotsOf(document)) {
      const svg = svgText(plotPicture(plot))
      expect(elementsOf(svg).slice(0, 3)).toEqual(['svg', 'title', 'desc'])
      expect(svg).toContain('prefers-color-scheme:dark')
      expect(svg).not.toMatch(/NaN|Infinity|undefined/)
    }
  })

  it('says what was left out, of the study and of the measurement', () => {
    const page = [...markdownOf(document)].join('')
    expect(page).toContain('descending:ks=2,mode=aware')
    expect(page).toContain('take too much memory: 4 KiB.')
    const without = [...markdownOf(studyDocument(simulated))].join('')
    expect(without).not.toMatch(/left out|Measured time/)
  })
})

describe('measurements', () => {
  it('have the median, shortest and longest run', () => {
    expect(measured.strategies[0].times[0]).toEqual({ bytes: 0, medianUs: 21.75, minUs: 11.5, maxUs: 31.25 })
    const [even] = measurementsOf(
      [{ strategy: 's', bytes: 1, microseconds: [4, 1, 2, 3] }],
      measured,
    ).strategies
    expect(even.times[0].medianUs).toBe(2.5)
  })

  it('leave out lengths whose receive buffers exceed 256 MiB', () => {
    expect(measurableLengths(2 ** 20, [4, 256, 257])).toEqual({ bytes: [4, 256], tooLong: [257] })
  })
})

describe('plots', () => {
  const axes = { x: { label: 'x', scale: 'bytes' }, y: { label: 'y', scale: 'logarithmic' } } as const
  const figures = { kind: 'lines', name: 'a', title: 'a & b', origin: 'simulated', source: 'here' } as const

  it.each([
    ['no points', []],
    ['one point', [[4, 2]]],
    [
      'zeros, which a logarithmic axis leaves out',
      [
        [0, 0],
        [1, 5],
      ],
    ],
    [
      'equal values',
      [
        [4, 3],
        [8, 3],
      ],
    ],
    [
      'ten decades',
      [
        [1, 1e-5],
        [2 ** 30, 1e5],
      ],
    ],
  ] as const)('of %s are well-formed', (_, points) => {
    for (const y of [axes.y, { label: 'y', scale: 'linear' } as const]) {
      const svg = svgText(
        plotPicture({ ...figures, x: axes.x, y, series: [{ name: '<s>', points: points as never }] }),
      )
      elementsOf(svg)
      expect(svg).not.toMatch(/NaN|Infinity/)
    }
  })

  it('of bars draw a part per value and its sum', () => {
    const bars = [
      { name: 'all', values: [1, 2.5] },
      { name: 'none', values: [0, 0] },
    ]
    const svg = svgText(
      plotPicture({ ...figures, kind: 'bars', unit: 'messages', parts: ['far', 'near'], bars }),
    )
    elementsOf(svg)
    expect(svg).toContain('>3.5</text>')
    expect(svg).not.toMatch(/NaN|Infinity/)
  })

  it('of times have marks within two steps of the least and the largest', () => {
    const points = [
      [4, 5.88],
      [64, 15_641],
    ] as const
    const svg = svgText(plotPicture({ ...figures, ...axes, series: [{ name: 's', points }] }))
    for (const text of ['10', '100', '1,000', '10,000']) expect(svg).toContain(`>${text}</text>`)
    for (const text of ['1', '100,000']) expect(svg).not.toContain(`>${text}</text>`)
    // The axis begins at 5 and ends at 20,000.
    const heights = Array.from(svg.matchAll(/stroke="#3b82f6"|fill="#3b82f6" d="M[\d.]+ ([\d.]+)m/g))
      .map(([, y]) => Number(y))
      .filter((y) => y > 0)
    const at = (value: number) => 400 - (338 * Math.log(value / 5)) / Math.log(20_000 / 5)
    expect(heights[0]).toBeCloseTo(at(5.88), 0)
    expect(heights[1]).toBeCloseTo(at(15_641), 0)
  })

  it('show long names in two lines, and the beginning of a source that is too long', () => {
    const name = 'hierarchical:between=2.2.2.2.3.3,inside=4.4.3,first=between,digits=offset,order=highest'
    const points = [[4, 1]] as const
    const plots = [
      { ...figures, ...axes, series: [{ name, points }] },
      { ...figures, kind: 'bars', unit: 'u', parts: ['p'], bars: [{ name, values: [1] }] },
    ] as const
    for (const plot of plots) {
      const svg = svgText(plotPicture({ ...plot, source: 'h'.repeat(300) }))
      expect(svg).toContain('>hierarchical:between=2.2.2.2.3.3,inside=4.4.3,</text>')
      expect(svg).toContain('>first=between,digits=offset,order=highest</text>')
      expect(svg).toMatch(/>SIMULATED: h{100,113}…<\/text>/)
    }
  })
})

it('numbers have two digits after the point or three significant ones, integers all, lengths binary prefixes', () => {
  expect([12_345, 1234.56, 0.012345, 1e6].map(numberText)).toEqual(['12,345', '1,235', '0.0123', '1,000,000'])
  expect([0, 512, 1024, 1536, 2 ** 20].map(bytesText)).toEqual(['0 B', '512 B', '1 KiB', '1.5 KiB', '1 MiB'])
  expect(cellText(null)).toBe('–')
})
