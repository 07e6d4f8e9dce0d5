import { constants } from 'node:os'
import type { Clock } from '../../base/clock.js'
import { functionOption, numberOption, type OptionTable, valueOption } from '../../base/option.js'

/** The triggers of reports on blocked ranks, to diagnose a hang. */
export interface ReportOptions {
  /** The seconds that the world has run when one report is written. */
  readonly afterSeconds?: number
  /**
   * The signal whose every arrival in this process triggers a report, for example 'SIGUSR2'. The listener exists while
   * the world runs; only the main thread of a program receives signals.
   */
  readonly onSignal?: NodeJS.Signals
  /** Receives the report, whole lines. Default: standard error. */
  readonly write?: (report: string) => void
}

/** The longest delay of Node's timers, in seconds. */
export const longestReportSeconds = Math.floor((2 ** 31 - 1) / 1000)

const uncaught = ['SIGKILL', 'SIGSTOP']

export const reportOptions: OptionTable<ReportOptions> = {
  afterSeconds: numberOption({ least: 0, most: longestReportSeconds }),
  onSignal: valueOption(
    'a signal that this platform has and a program can catch, such as SIGUSR2',
    (value) => Object.hasOwn(constants.signals, String(value)) && !uncaught.includes(String(value)),
  ),
  write: functionOption,
}

/** Writes a report whenever one is triggered, until it is stopped. Without options nothing is installed. */
export class ReportTriggers {
  readonly #describe: () => string | Promise<string>
  readonly #write: (report: string) => void
  readonly #signal: NodeJS.Signals | undefined
  readonly #cancel: (() => void) | undefined
  #stopped = false

  constructor(options: ReportOptions | undefined, clock: Clock, describe: () => string | Promise<string>) {
    this.#describe = describe
    this.#write = options?.write ?? ((report) => void process.stderr.write(report))
    this.#signal = options?.onSignal
    if (this.#signal !== undefined) process.on(this.#signal, this.#report)
    const seconds = options?.afterSeconds
    if (seconds !== undefined) this.#cancel = clock.later(seconds * 1000, this.#report)
  }

  stop(): void {
    if (this.#stopped) return
    this.#stopped = true
    if (this.#signal !== undefined) process.off(this.#signal, this.#report)
    this.#cancel?.()
  }

  readonly #report = async (): Promise<void> => {
    const text = await this.#describe()
    if (!this.#stopped) this.#write(`${text}\n`)
  }
}
