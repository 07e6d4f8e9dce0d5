import type { ComparedAlgorithms } from '../../cost/choose/choose-algorithm.js'
import type { Machine } from '../../machine/machine.js'
import { profileOf } from '../../machine/network.js'
import { profileOrigin, profileRemark } from '../../machine/profile-remarks.js'
import { columns, figure, secondsText } from './reporter.js'

/** Returns the part of a schedule's JSON object about a choice, like that of a plan. */
export function algorithmChoiceObject(choice: ComparedAlgorithms, machine: Machine) {
  const { chosen, alternatives, notSimulated, simulated, bytes } = choice
  return {
    bytesPerUnit: bytes,
    chosen: chosen.algorithm,
    simulated,
    alternatives,
    notSimulated,
    profile: profileOrigin(profileOf(machine)),
    remark: profileRemark(machine),
    origins: { timeUs: 'simulated', planMs: 'measured' } as const,
  }
}

/** Returns the algorithms that were compared, by simulated time; the chosen one is marked. */
export function algorithmChoiceRows(compared: ReturnType<typeof algorithmChoiceObject>): string {
  const { alternatives, bytesPerUnit, chosen, notSimulated, profile, remark, simulated } = compared
  const farthest = alternatives.some(({ bytes }) => bytes.network > 0)
  const rows = alternatives.map(({ algorithm, timeUs, messages, bytes, planMs }) => [
    `${algorithm === chosen ? '*' : ' '} ${algorithm}`,
    `${figure(timeUs)} us`,
    figure(messages),
    figure(farthest ? bytes.network : bytes.package + bytes.node),
    secondsText(planMs / 1000),
  ])
  return [
    `algorithms for units of ${figure(bytesPerUnit)} bytes, ${figure(simulated)} settings simulated (* chosen)`,
    `times are simulated with profile ${profile}; planning is measured`,
    ...(remark === null ? [] : [remark]),
    columns([
      ['  algorithm', 'simulated', 'messages', farthest ? 'bytes between nodes' : 'bytes', 'planning'],
      ...rows,
    ]),
    ...notSimulated.map(({ algorithm, reason }) => `  not simulated: ${algorithm}: ${reason}`),
  ].join('\n')
}
