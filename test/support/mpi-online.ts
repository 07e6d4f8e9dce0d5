import { collectives } from '../../src/schedule/specification.js'
import { cellAxes, emptyGrid, openGrid } from '../../src/tuning/models/decision-grid.js'
import { isGrid, type TuningFile } from '../../src/tuning/models/tuning-file.js'
import type { CallFile } from '../../src/tuning/online/call-file.js'
import { callDraw, GridSelection, tunedLogic, tuningLogic } from '../../src/tuning/online/grid-selection.js'
import { NumberedSettings } from '../../src/tuning/settings/setting.js'

const whole = 2n ** 64n

/** A communicator of an MPI program, by which its members draw. */
export const worldKey = 0n

/**
 * That of a communicator that is made from another one.
 *
 * @param made how many were made from that one before
 * @param leader the world's rank of its first one
 */
export function childKey(parent: bigint, made: number, leader: number): bigint {
  return mixed(mixed((parent + 0x9e3779b97f4a7c15n + BigInt(made)) % whole) + BigInt(leader))
}

function mixed(word: bigint): bigint {
  let hash = word % whole
  hash = ((hash ^ (hash >> 30n)) * 0xbf58476d1ce4e5b9n) % whole
  hash = ((hash ^ (hash >> 27n)) * 0x94d049bb133111ebn) % whole
  return hash ^ (hash >> 31n)
}

/**
 * Records of a run of an MPI program with other settings than those that this library would choose.
 *
 * @param keys of the communicators, by their numbers in the file
 * @param model that the run used
 */
export function otherChoices(
  file: CallFile,
  keys: ReadonlyMap<number, bigint>,
  model?: TuningFile,
): string[] {
  const table = new NumberedSettings(file.settings)
  const logic = file.mode === 'tuned' ? tunedLogic : tuningLogic()
  const selections = new Map<string, GridSelection>()
  const others: string[] = []
  for (const records of file.records.values())
    for (const { communicator, call, collective, setting, bytes } of records) {
      const key = keys.get(communicator)
      if (key === undefined) continue
      const { nodes, processesPerNode, processes } = file.communicators[communicator]
      const name = `${communicator} ${collective}`
      let selection = selections.get(name)
      if (selection === undefined) {
        const settings = table.of(collective)
        const learned = model?.decisions[collective]
        const grid =
          learned !== undefined && isGrid(learned)
            ? openGrid(name, learned)
            : emptyGrid(settings, cellAxes({ nodes: 1, processesPerNode: 1 }))
        // That of two processes serves no others.
        const eligible = settings.flatMap(({ algorithm }, i) =>
          algorithm === 'two_proc' && processes !== 2 ? [] : [i + 1],
        )
        selection = new GridSelection(grid, logic, eligible, nodes, processesPerNode)
        selections.set(name, selection)
      }
      const drawn = callDraw(file.seed, Number(BigInt.asIntN(32, key)), call, collectives.indexOf(collective))
      const expected = selection.choose(bytes, drawn)
      if (expected !== setting)
        others.push(`${name}, call ${call}: expected setting ${expected}, got ${setting}`)
    }
  return others
}
