import type { Cell, Column, LinePlot, Section, Table } from './document.js'
import { bytesText } from './figure-text.js'
import type { Measurements, Subject } from './study.js'

/**
 * Returns the section of times on a fabric, apart from everything simulated: the computer is another machine, and other
 * work may have run on it.
 */
export function measuredSection({ ranks, topology }: Subject, measured: Measurements): Section {
  const { fabric, processes, processor, processors, runs, bytes, tooLong, strategies } = measured
  const place = `${fabric}, ${processes} ${processes === 1 ? 'process' : 'processes'}, on ${processors} x ${processor}`
  const heads = (first: string): Column[] => [
    { title: first },
    ...bytes.map((length) => ({ title: bytesText(length) })),
  ]
  const table = (title: string, of: 'medianUs' | 'minUs' | 'maxUs'): Table => ({
    kind: 'table',
    title,
    origin: 'measured',
    source: `${place}; microseconds per start, of ${runs} runs in turns`,
    columns: heads('strategy'),
    rows: strategies.map(({ strategy, times }): Cell[] => [strategy, ...times.map((time) => time[of])]),
  })
  const plot: LinePlot = {
    kind: 'lines',
    name: 'measured-time',
    title: 'Time of a start by block length',
    origin: 'measured',
    source: place,
    x: { label: 'length of a block', scale: 'bytes' },
    y: { label: 'time, us', scale: 'logarithmic' },
    series: strategies.map(({ strategy, times }) => ({
      name: strategy,
      points: times.map((time) => [time.bytes, time.medianUs] as const),
    })),
  }
  return {
    title: 'Measured time',
    text: [
      `${topology} on ${ranks} ranks, executed with its data on this computer: not on the machine of the simulated times, so the two are not comparable.`,
      ...(tooLong.length === 0
        ? []
        : [
            `Left out, because their receive buffers take too much memory: ${tooLong.map(bytesText).join(', ')}.`,
          ]),
    ],
    parts: [plot, table('Median', 'medianUs'), table('Shortest', 'minUs'), table('Longest', 'maxUs')],
  }
}
