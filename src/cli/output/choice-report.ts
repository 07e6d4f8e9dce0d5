import { levels } from '../../machine/profile.js'
import type { Alternative, Choice } from '../../neighborhood/choose/choice.js'
import type { ReportedChoice } from '../../neighborhood/choose/comparison.js'
import { columns, figure, secondsText } from './reporter.js'

/** Returns the strategies that were compared, by simulated time; the planned one is marked. */
export function choiceRows(compared: ReportedChoice): string {
  const { alternatives, bytesPerBlock, considered, chosen, ordinaryAllgather: ordinary } = compared
  const farthest = alternatives.some((alternative) => alternative.bytes.network > 0)
  const direct = alternatives.find(({ strategy }) => strategy === 'direct')
  const references = [direct?.timeUs ?? null, ordinary?.timeUs ?? null]
  const rowOf = (name: string, { timeUs, messages, bytes: sent }: Row, others: readonly string[]) => [
    name,
    `${figure(timeUs)} us`,
    ...references.map((us) => ratioText(us, timeUs)),
    figure(messages),
    figure(farthest ? sent.network : allBytes(sent)),
    ...others,
  ]
  const timed = alternatives.map((each) => ({
    timeUs: each.timeUs,
    row: rowOf(`${each.strategy === chosen ? '*' : ' '} ${each.strategy}`, each, [
      secondsText(each.planMs / 1000),
      startsText(each),
    ]),
  }))
  if (ordinary !== null) {
    const row = rowOf(`- ${ordinary.algorithm}, all to all`, ordinary, ['', ''])
    timed.push({ timeUs: ordinary.timeUs, row })
    timed.sort((a, b) => a.timeUs - b.timeUs)
  }
  const sent = farthest ? 'bytes between nodes' : 'bytes'
  return [
    `strategies for blocks of ${figure(bytesPerBlock)} bytes, ${figure(considered)} considered, ${figure(alternatives.length)} simulated (* planned${ordinary === null ? '' : ', - an ordinary allgather'})`,
    `times are simulated with profile ${compared.profile}; planning is measured`,
    ...(compared.remark === null ? [] : [compared.remark]),
    columns([
      [
        '  strategy',
        'simulated',
        'direct / this',
        'allgather / this',
        'messages',
        sent,
        'planning',
        'pays after',
      ],
      ...timed.map(({ row }) => row),
    ]),
    ...fastestRow(compared),
    ...leftRows(compared.notSimulated),
  ].join('\n')
}

/** Names the strategy to plan instead, if the planned one is not the fastest. */
function fastestRow({ alternatives, chosen }: ReportedChoice): string[] {
  const [fastest] = alternatives
  const planned = alternatives.find(({ strategy }) => strategy === chosen)
  if (planned === undefined || planned.timeUs <= fastest.timeUs) return []
  const times = figure(planned.timeUs / fastest.timeUs)
  return [`  fastest simulated: --strategy ${fastest.strategy}; the planned one takes ${times} times as long`]
}

type Row = Pick<Alternative, 'timeUs' | 'messages' | 'bytes'>

const reasons = {
  slower: 'a lower bound of their time exceeds the fastest',
  budget: 'the budget is used up',
  moves: 'their plans move more blocks than the budget allows',
  friends: 'the search for friends takes longer than the budget allows',
} as const

/** Returns the candidates that the budget left out and that are worth a name, by reason. */
function leftRows(left: Choice['notSimulated']): string[] {
  return Object.entries(reasons).flatMap(([because, reason]) => {
    const names = left
      .filter((each) => each.because === because)
      .map(({ strategy, atLeastUs }) => `${strategy} (at least ${figure(roundedDown(atLeastUs))} us)`)
    return names.length === 0 ? [] : [`  not simulated, as ${reason}: ${names.join(', ')}`]
  })
}

/** Returns how many times as long a reference takes; an en dash if it is not simulated. */
function ratioText(referenceUs: number | null, us: number): string {
  if (referenceUs === null) return '–'
  return figure(us === 0 ? 1 : referenceUs / us)
}

/** Rounds down to at most two digits, and two after the point: a bound is printed no higher than it is. */
function roundedDown(us: number): number {
  if (us <= 0) return 0
  const unit = Math.max(0.01, 10 ** (Math.floor(Math.log10(us)) - 1))
  return Number((Math.floor(us / unit) * unit).toPrecision(2))
}

function allBytes(bytes: Alternative['bytes']): number {
  return levels.reduce((sum, level) => sum + bytes[level], 0)
}

/** Returns starts with two digits: planning is measured once. */
function startsText({ breakEvenStarts, breakEvenIsAtMost }: Alternative): string {
  if (breakEvenStarts === null) return 'never'
  const starts = Number(breakEvenStarts.toPrecision(2))
  const text = starts === 1 ? '1 start' : `${figure(starts)} starts`
  return `${breakEvenIsAtMost ? 'at most' : 'about'} ${text}`
}
