import { tuningReport } from '../../report/tuning-report.js'
import type { Collective } from '../../schedule/specification.js'
import { cDecisions } from '../../tuning/c-decisions.js'
import type { LearnedDecisions } from '../../tuning/learn-decisions.js'
import type { Measurement } from '../../tuning/measurement.js'
import type { TuningFile } from '../../tuning/tuning-file.js'
import { typescriptDecisions } from '../../tuning/typescript-decisions.js'

/** What `rankweave tune` writes of decisions besides the tuning file. */
export interface TuningOutput {
  /** As commander has it: of `--c`, `c`. */
  readonly name: string
  readonly flags: string
  readonly help: string
  /** @throws ERR_TUNING where it cannot say what was learned */
  text(tuned: Tuned): string
}

/** What an output is written of. */
export interface Tuned {
  readonly file: TuningFile
  readonly learned: readonly LearnedDecisions[]
  /** That it was learned from, of one source. */
  readonly measurements: readonly Measurement[]
}

/** By option, in the order of help. */
export const tuningOutputs: readonly TuningOutput[] = [
  {
    name: 'c',
    flags: '--c <file>',
    help: 'write a C99 function for each collective: rankweave_bcast(...)',
    text: ({ learned }) =>
      learned
        .map(({ collective, tree }) => cDecisions(tree, `rankweave_${collective.replaceAll('-', '_')}`))
        .join('\n'),
  },
  {
    name: 'ts',
    flags: '--ts <file>',
    help: 'write a TypeScript function for each collective: decideBcast(...)',
    text: ({ learned }) =>
      learned.map(({ collective, tree }) => typescriptDecisions(tree, decideName(collective))).join('\n'),
  },
  {
    name: 'report',
    flags: '--report <file>',
    help: 'write pictures of who wins where, and what decisions lose, as one HTML file',
    text: ({ learned, measurements }) => [...tuningReport(measurements, learned)].join(''),
  },
]

function decideName(collective: Collective): string {
  return `decide${collective.replace(/(?:^|-)./g, (start) => start.at(-1)!.toUpperCase())}`
}
