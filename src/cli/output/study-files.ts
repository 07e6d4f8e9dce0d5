import { join } from 'node:path'
import { plotsOf, type StudyDocument } from '../../study/document.js'
import { htmlOf } from '../../study/html.js'
import { inColumns, wayNames } from '../../study/mapping-section.js'
import { markdownOf } from '../../study/markdown.js'
import { plotSvg } from '../../study/plot-svg.js'
import { closeEnough } from '../../study/sensitivity.js'
import type { StudiedMapping, Study, Way } from '../../study/study.js'
import { productText } from '../../study/study-document.js'
import { fileError, makeDirectory, requireWritable } from '../../text/whole-file.js'
import { mappingRow } from './mapping-report.js'
import { checkOutputs, isStandardOutput, writeOutput } from './output-file.js'
import { columns, counted, figure, type Reporter } from './reporter.js'

/** The form of a study: one page, or a folder with both pages, the object and a picture per plot. */
type Target = 'markdown' | 'html' | 'folder'

/** The files of a folder, besides a picture per plot. */
const pages = ['README.md', 'study.html', 'study.json']

function targetOf(output: string): Target {
  if (isStandardOutput(output) || output.endsWith('.md')) return 'markdown'
  return output.endsWith('.html') ? 'html' : 'folder'
}

/** Checks the output before the study is made, and makes the folder. @throws ERR_USAGE, ERR_FILE */
export async function checkStudyOutput(report: Reporter, output: string | undefined): Promise<void> {
  if (output === undefined) return
  if (targetOf(output) !== 'folder') return await checkOutputs(report, output)
  try {
    makeDirectory(output)
  } catch (cause) {
    throw fileError('make', output, cause)
  }
  for (const name of pages) await requireWritable(join(output, name))
}

/**
 * Writes a study.
 *
 * @param object of `--json`
 * @throws ERR_FILE
 */
export async function writeStudy(
  report: Reporter,
  output: string,
  object: unknown,
  document: StudyDocument,
): Promise<void> {
  const target = targetOf(output)
  if (target === 'html') await writeOutput(report, output, htmlOf(document))
  else if (target === 'markdown') await writeOutput(report, output, markdownOf(document))
  else {
    for (const plot of plotsOf(document))
      await writeOutput(report, join(output, `${plot.name}.svg`), [plotSvg(plot)])
    const plotFile = ({ name }: { readonly name: string }) => `${name}.svg`
    await writeOutput(report, join(output, 'README.md'), markdownOf(document, { plotFile }))
    await writeOutput(report, join(output, 'study.html'), htmlOf(document))
    await writeOutput(report, join(output, 'study.json'), [`${JSON.stringify(object, null, 1)}\n`])
  }
  if (!isStandardOutput(output)) report.note(`wrote ${output}`)
}

/** Summarizes a study: the fastest of the strategies studied for every length, and the starts until it pays. */
export function fastestRows({ subject, fastest, strategies, leftOut, sensitivity, mapped }: Study): string {
  const left = leftOut.length === 0 ? '' : `, ${leftOut.length} left out`
  return [
    `${subject.topology} on ${subject.machine}: ${counted(strategies.length, 'strategy', 'strategies')}${left}`,
    `times are simulated with profile ${subject.profile.origin}; planning is measured`,
    ...(subject.product === null ? [] : [productText(subject.product)]),
    ...(subject.remark === null ? [] : [subject.remark]),
    ...(mapped === undefined ? [] : fourColumns(mapped)),
    columns([
      [
        'bytes',
        'fastest of those studied',
        'simulated',
        'direct sends / this',
        'allgather / this',
        'pays after',
      ],
      ...fastest.map(({ bytes, strategy, timeUs, speedup, speedupOverAllgather: over, breakEvenStarts }) => [
        ...[figure(bytes), strategy, `${figure(timeUs)} us`, figure(speedup)],
        ...[over === null ? '–' : figure(over), startsText(breakEvenStarts)],
      ]),
    ]),
    ...fastest
      .filter(({ auto, strategy }) => auto !== null && auto !== strategy)
      .map(({ bytes, auto }) => `for ${figure(bytes)} bytes auto chooses ${auto}`),
    sensitivityText(sensitivity),
  ].join('\n')
}

/** Returns the mapping, and the times of mapping and combining, each alone and together. */
function fourColumns({ mapping, ways }: StudiedMapping): string[] {
  const cell = ({ timeUs, messages, betweenNodes }: Way) =>
    `${figure(timeUs)} us, ${figure(betweenNodes)} of ${figure(messages)}`
  return [
    `mapping ${mappingRow(mapping)}`,
    'simulated time, and messages between nodes of all:',
    columns([
      ['bytes', ...Object.values(wayNames)],
      ...ways.map((each) => [figure(each.bytes), ...inColumns(each, cell)]),
    ]),
  ]
}

/** Prints two digits: planning is measured. */
function startsText(starts: number | null): string {
  return starts === null ? 'never' : counted(Number(starts.toPrecision(2)), 'start', 'starts')
}

function sensitivityText(sensitivity: Study['sensitivity']): string {
  const ratios = sensitivity.flatMap(({ variations }) => variations.map(({ ratio }) => ratio))
  const close = ratios.filter((ratio) => ratio <= 1 + closeEnough).length
  return `with latency, overhead or bandwidth halved or doubled: within ${100 * closeEnough}% of the fastest compared in ${close} of ${ratios.length} cases`
}
