import {
  flagOption,
  integerOption,
  type OptionTable,
  objectOption,
  signalOption,
  uncheckedOptions,
  valueOption,
} from '../base/option.js'
import { checkOptions } from '../base/option-table.js'
import { wrongValue } from '../errors.js'
import { type LocalFactory, local } from '../fabric/local/local.js'
import type { RunOptions } from '../launch/run.js'
import { checkWorldMachine } from '../machine/check-machine.js'
import { machineOption } from '../machine/machine.js'
import { requireMailboxDesigns } from '../messages/mailboxes/mailbox.js'
import { matchingOptions, refuseTrace } from '../messages/process/matching-options.js'
import { maxWorldRanks } from '../messages/process/world-layout.js'
import { ownTuning } from '../tuning/models/read-tuning-file.js'
import type { TuningFile } from '../tuning/models/tuning-file.js'
import { warnOfUnfinished } from '../world/unfinished.js'
import { hostedOption, type Main, programOf } from '../world/user-program.js'
import { hostSession } from '../world/world.js'

/**
 * The options of a world inside a page. They are those of `run` that a page supports: it has one event loop, and no
 * signals of an operating system.
 */
export interface PageRunOptions<A = unknown, T = unknown>
  extends Omit<RunOptions<A, T>, 'fabric' | 'report' | 'tuning'> {
  /** The logical processes in this page: `local({ seed, nodes })`. Default: `processes` of them. */
  readonly fabric?: LocalFactory
  /** The content of a tuning file, as JSON.parse returns it. Default: none. */
  readonly tuning?: TuningFile
}

/**
 * Runs a world inside this page, as `run` of `rankweave` does on fabric `local`: `main` once for every rank. A page
 * cannot see what else may wake a rank, so it does not report ranks that wait for something other than messages.
 *
 * @returns the values that the ranks' mains returned, in rank order
 * @throws the first error of a rank, that same object
 * @throws ERR_WORLD, ERR_ARGUMENT for options; ERR_TUNING; ERR_MACHINE; ERR_WORLD_ABORTED through `world.abort`;
 *   ERR_ABORTED through `signal`; ERR_DEADLOCK
 */
export async function runInPage<T, A = undefined>(
  main: Main<T, A>,
  options: PageRunOptions<A, T>,
): Promise<T[]> {
  checkRun(main, options)
  const { processes, hosted, tuning, ...others } = options
  const { fabric = local(processes === undefined ? {} : { processes }), ...world } = others
  if (processes !== undefined && processes !== fabric.processes) {
    const expected = `run: expected processes as the fabric has them, ${fabric.processes}`
    throw wrongValue('ERR_WORLD', expected, processes)
  }
  const { ranksPerProcess } = fabric
  return hostSession(await fabric.open(), programOf(main, hosted), {
    ...world,
    onUnfinished: warnOfUnfinished,
    ...(tuning === undefined ? {} : { tuning: ownTuning('run', tuning, fabric.kind) }),
    ...(ranksPerProcess === undefined ? {} : { ranksPerProcess }),
  })
}

const runOptions: OptionTable<PageRunOptions> = {
  ranks: integerOption({ least: 1, most: maxWorldRanks, required: true, code: 'ERR_WORLD' }),
  ...uncheckedOptions('processes', 'args', 'detectDeadlock', 'tuning'),
  fabric: valueOption('what local() makes', (value) => {
    const { kind, open } = Object(value) as Partial<LocalFactory>
    return kind === 'local' && typeof open === 'function'
  }),
  signal: signalOption,
  eagerLimitBytes: integerOption({ least: 0 }),
  creditBytes: integerOption({ least: 0 }),
  diagnose: flagOption(),
  hosted: hostedOption,
  machine: machineOption,
  matching: objectOption(matchingOptions),
}

/** @throws ERR_ARGUMENT, ERR_WORLD, ERR_MACHINE */
function checkRun<T, A>(main: unknown, options: PageRunOptions<A, T>): void {
  if (typeof main !== 'function') throw wrongValue('ERR_ARGUMENT', 'run: expected a function as main', main)
  checkOptions('run', runOptions, options)
  refuseTrace('run', options.matching)
  requireMailboxDesigns('run', options.matching?.design)
  if (options.machine !== undefined) checkWorldMachine(options.machine, options.ranks)
}
