import type { Study } from '../../study/study.js'
import { columns, counted, figure } from './reporter.js'

/** What a study says in short: the fastest strategy of every length. */
export function fastestRows({ subject, fastest, strategies, leftOut }: Study): string {
  const left = leftOut.length === 0 ? '' : `, ${leftOut.length} left out`
  return [
    `${subject.topology} on ${subject.machine}: ${counted(strategies.length, 'strategy', 'strategies')}${left} (times are simulated)`,
    columns([
      ['bytes', 'fastest', 'time', 'direct sends / this'],
      ...fastest.map(({ bytes, strategy, timeUs, speedup }) => [
        ...[figure(bytes), strategy, `${figure(timeUs)} us`, figure(speedup)],
      ]),
    ]),
  ].join('\n')
}
