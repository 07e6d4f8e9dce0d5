import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { checkStudyOutput, writeStudy } from '../../src/cli/commands/study.js'
import { reporter } from '../../src/cli/output/reporter.js'
import type { Streams } from '../../src/cli/output/streams.js'
import { readMatrixMarket } from '../../src/topology/files/matrix-market.js'
import type { Bench, Figure } from '../bench.js'
import { paperDocument } from './paper-document.js'
import type { Claim, PaperStudy } from './paper-figures.js'
import { paperStudy } from './paper-study.js'
import type { NamedPattern } from './sparse-products.js'

const matrices = fileURLToPath(new URL('../../test/matrices', import.meta.url))
const folder = fileURLToPath(new URL('../../docs/study/paper', import.meta.url))
/** Of one strategy. */
const planSeconds = 60

/** Chapter 7 of Ghazimirsaeed 2019 again, printed values beside ours: takes some minutes. */
export const paperBench: Bench = {
  name: 'paper',
  question: 'Which values that chapter 7 of Ghazimirsaeed 2019 prints do we find?',
  async *measure() {
    for (const claim of studied((what) => console.error(what)).claims) yield figureOf(claim)
  },
}

/** Writes docs/study/paper. */
export async function writePaper(streams: Streams): Promise<void> {
  const report = reporter(streams, false)
  await checkStudyOutput(report, folder)
  const study = studied((what) => report.step(what))
  await writeStudy(report, folder, study, paperDocument(study))
}

function studied(onSetting: (what: string) => void): PaperStudy {
  return paperStudy({ matrices: testMatrices(), planSeconds, now: processorMs, onSetting })
}

/** Where the text prints words instead of a value, they are the peer's in `shown`. */
function figureOf({ where, what, unit, origin, printed, ours, why }: Claim): Figure {
  const peer = typeof printed === 'number' ? printed : null
  const ratio = peer === null || ours === null || peer === 0 ? null : ours / peer
  const words = [...(peer === null ? [`printed: ${printed}`] : []), ...(why === '' ? [] : [why])].join('; ')
  const rest = { target: null, met: null, runs: 1, origin, ...(words === '' ? {} : { shown: words }) }
  return { case: `${where}, ${what}`, unit, ours, peer, ratio, ...rest }
}

function testMatrices(): NamedPattern[] {
  const files = readdirSync(matrices).filter((name) => /\.mtx(\.gz)?$/.test(name))
  return files.sort().map((file) => ({
    name: file.replace(/\.mtx(\.gz)?$/, ''),
    pattern: readMatrixMarket(`${matrices}/${file}`),
  }))
}

/** The processor time of this process, which other work on the computer disturbs least. */
function processorMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}
