import { type RankweaveError, wrongValue } from '../errors.js'
import type { Collective } from '../schedule/specification.js'
import type { ElementType } from '../tuning/measured/measurement.js'
import { defaultAlgorithm, settingLine, type TuningSetting } from '../tuning/settings/setting.js'
import { isReduction, type TuningCall } from '../tuning/settings/tuning-call.js'
import {
  algorithmVariable,
  type LibraryAlgorithms,
  libraryAlgorithms,
  libraryName,
  librarySettings,
  settingVariables,
} from './library-algorithms.js'
import { requireOwnChoice } from './library-environment.js'
import type { MeasuringJob } from './measuring-job.js'
import type { CallVerdict, Meter } from './meter.js'
import { largestSpread, membersOf, type PlacedSpread, spreadText } from './spread.js'

export interface LibraryMeterOptions {
  readonly machine: string
  readonly collectives: readonly Collective[]
  readonly elementType: ElementType
  /** The lengths of segments in bytes; 0 for whole data. */
  readonly segments: readonly number[]
}

export interface LibraryMeter extends Meter {
  readonly spread: PlacedSpread
  /** The collectives whose algorithms the library does not name: only its default is measured. */
  readonly unnamed: readonly Collective[]
}

const verdicts: readonly CallVerdict[] = ['right', 'wrong', 'refused']

/**
 * Measures an MPI library's own algorithms in a job of {@link startMeasuring}.
 *
 * @throws ERR_MEASUREMENT for a library that is neither Open MPI nor MPICH, and for a job whose control variables keep
 *   settings from taking effect ({@link requireOwnChoice})
 */
export async function libraryMeter(job: MeasuringJob, options: LibraryMeterOptions): Promise<LibraryMeter> {
  const { machine, collectives, elementType } = options
  const library = libraryName(job.library)
  if (library === null)
    throw wrongValue('ERR_MEASUREMENT', 'expected a job of Open MPI or MPICH', job.library)
  const { kind, version } = library
  await requireOwnChoice(kind, collectives, (name) => variableOf(job, name))
  const algorithms = new Map<Collective, LibraryAlgorithms>()
  for (const collective of collectives) {
    const described = await job.ask(`describe ${algorithmVariable(kind, collective)}`)
    algorithms.set(collective, libraryAlgorithms(kind, collective, described))
  }
  const spread = largestSpread(job.nodes)
  const order = async (text: string): Promise<void> => {
    const answer = await job.ask(text)
    if (answer !== 'ok') throw unexpected(text, answer)
  }
  let spreadNow = ''
  let ids = new Map<string, number>()
  const idOf = (setting: TuningSetting) => ids.get(settingLine(setting))!
  return {
    source: { kind: 'mpi', name: `${kind} ${version}`, machine },
    isComputed: false,
    spread,
    unnamed: collectives.filter((collective) => algorithms.get(collective)!.size === 0),
    algorithms: (collective) => [defaultAlgorithm, ...algorithms.get(collective)!.keys()],
    settings: (call) => librarySettings(kind, algorithms.get(call.collective)!, call, options),
    async begin(call, settings) {
      const members = membersOf(spread, call)
      if (spreadNow !== spreadText(call)) await order(`spread ${members.join(' ')}`)
      spreadNow = spreadText(call)
      await order(`call ${call.collective} ${typeOf(call, elementType)} ${call.bytes}`)
      ids = new Map(settings.map((setting, id) => [settingLine(setting), id]))
      for (const setting of settings) {
        const variables = settingVariables(kind, algorithms.get(call.collective)!, setting)
        const words = Object.entries(variables).map(([name, value]) => ` ${name}=${value}`)
        await order(`setting ${idOf(setting)}${words.join('')}`)
      }
    },
    async verify(setting) {
      const answer = await job.ask(`verify ${idOf(setting)}`)
      const verdict = verdicts.find((word) => word === answer)
      if (verdict === undefined) throw unexpected('verify', answer)
      return verdict
    },
    async time(setting, repetitions) {
      const answer = await job.ask(`time ${idOf(setting)} ${repetitions}`)
      const [word, ...times] = answer.split(' ')
      const us = times.map(Number)
      if (word !== 'times' || us.length !== 2 * repetitions || !us.every(Number.isFinite))
        throw unexpected('time', answer)
      return { callUs: us.slice(0, repetitions), barrierUs: us.slice(repetitions) }
    },
    end: () => order('done'),
  }
}

/** Returns a control variable as text, or null if the library has none of that name. */
async function variableOf(job: MeasuringJob, name: string): Promise<string | null> {
  const answer = await job.ask(`read ${name}`)
  if (answer === 'none') return null
  if (!answer.startsWith('value ')) throw unexpected(`read ${name}`, answer)
  return answer.slice('value '.length)
}

function typeOf({ collective }: TuningCall, elementType: ElementType): string {
  return isReduction(collective) ? elementType : 'byte'
}

function unexpected(order: string, answer: string): RankweaveError {
  return wrongValue('ERR_MEASUREMENT', `expected an answer of the measured job to '${order}'`, answer)
}
