import { levels } from '../../machine/profile.js'
import type { Alternative, Choice } from '../../neighborhood/choose/choice.js'
import { columns, figure, seconds } from './reporter.js'

/** What `--compare` and the strategy auto add to the JSON object of a plan. */
export function choiceObject({ alternatives, bytes, considered }: Choice, planned: string) {
  return { bytesPerBlock: bytes, chosen: planned, considered, alternatives }
}

/** The strategies that were compared, by predicted time; the planned one is marked. */
export function choiceRows({ alternatives, bytes, considered }: Choice, planned: string): string {
  const farthest = alternatives.some((alternative) => alternative.bytes.network > 0)
  const rows = alternatives.map((alternative) => [
    `${alternative.strategy === planned ? '*' : ' '} ${alternative.strategy}`,
    `${figure(alternative.timeUs)} us`,
    figure(alternative.messages),
    figure(farthest ? alternative.bytes.network : allBytes(alternative)),
    seconds(alternative.planMs / 1000),
    startsText(alternative.breakEvenStarts),
  ])
  const sent = farthest ? 'bytes between nodes' : 'bytes'
  return [
    `strategies for blocks of ${figure(bytes)} bytes, ${figure(considered)} considered (* planned; times are predicted)`,
    columns([['  strategy', 'time', 'messages', sent, 'planning', 'pays after'], ...rows]),
  ].join('\n')
}

function allBytes({ bytes }: Alternative): number {
  return levels.reduce((sum, level) => sum + bytes[level], 0)
}

function startsText(starts: number | null): string {
  if (starts === null) return 'never'
  return starts === 1 ? '1 start' : `${figure(starts)} starts`
}
