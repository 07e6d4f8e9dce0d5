import type { ComparedRank, SummedDesign } from '../../messages/matching-queues/compare-designs.js'
import type { LinePlot } from '../../study/document.js'
import { plotSvg } from '../../study/plot-svg.js'

const gap = 16

/** Draws the lengths of both queues of one rank over its operations, and below the times of searches by design. */
export function matchingPicture(
  { rank, samples }: Pick<ComparedRank, 'rank' | 'samples'>,
  designs: readonly SummedDesign[],
  title: string,
): string {
  const line = (queue: 'posted' | 'unexpected') =>
    samples.map((sample): readonly [number, number] => [sample.operation, sample[queue]])
  const lengths: LinePlot = {
    kind: 'lines',
    name: 'queue-lengths',
    title: `Queues of rank ${rank}, ${title}`,
    origin: 'counted',
    source: 'entries in each queue, by operations of the trace',
    x: { label: 'operations', scale: 'linear' },
    y: { label: 'entries', scale: 'linear' },
    series: [
      { name: 'unexpected messages', points: line('unexpected') },
      { name: 'posted receives', points: line('posted') },
    ],
  }
  const bars = (value: (design: SummedDesign) => number) =>
    designs.map((one) => ({ name: one.design.name, values: [value(one)] }))
  const pictures = [
    plotSvg(lengths),
    plotSvg({
      kind: 'bars',
      name: 'matching-time',
      title: 'Time per operation by design, all ranks',
      origin: 'measured',
      source: 'replays of the traces on this machine',
      unit: 'ns per operation',
      parts: ['time'],
      bars: bars(({ nsPerOperation }) => Math.round(nsPerOperation)),
    }),
    plotSvg({
      kind: 'bars',
      name: 'matching-searches',
      title: 'Entries passed per search by design, all ranks',
      origin: 'counted',
      source: 'replays of the traces',
      unit: 'entries per search',
      parts: ['entries'],
      bars: bars(({ traversals, searches }) => Math.round((100 * traversals) / Math.max(1, searches)) / 100),
    }),
  ]
  let top = 0
  let width = 0
  const placed = pictures.map((picture) => {
    const [, wide, high] = /viewBox="0 0 ([\d.]+) ([\d.]+)"/.exec(picture)!.map(Number)
    const at = `<svg x="0" y="${top}" width="${wide}" height="${high}" `
    top += high + gap
    width = Math.max(width, wide)
    return picture.replace('<svg ', at).trimEnd()
  })
  const height = top - gap
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">\n${placed.join('\n')}\n</svg>\n`
}
