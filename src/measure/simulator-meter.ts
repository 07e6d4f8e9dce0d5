import { parseAlgorithm } from '../collective/algorithm-text.js'
import { formatMachine } from '../machine/format-machine.js'
import type { Machine } from '../machine/machine.js'
import { profileOf } from '../machine/network.js'
import { measurementLimits } from '../tuning/measured/measurement.js'
import { simulatedCallUs } from '../tuning/measured/predictors.js'
import { ownAlgorithms, ownSettings } from '../tuning/settings/own-settings.js'
import { settingLine, type TuningSetting } from '../tuning/settings/setting.js'
import type { TuningCall } from '../tuning/settings/tuning-call.js'
import type { Meter } from './meter.js'
import { largestSpread, membersOf, type PlacedSpread } from './spread.js'

/** Returns the spread of a machine with one process on every core. */
export function machineSpread(machine: Machine): PlacedSpread {
  return largestSpread([...machine.cores].flatMap((cores, node) => new Array<number>(cores).fill(node)))
}

/**
 * Returns a meter that predicts times of Rankweave's own algorithms by the simulator.
 *
 * @throws ERR_MACHINE for a machine without a profile
 */
export function simulatorMeter(machine: Machine, segments: readonly number[]): Meter {
  const { name } = profileOf(machine)
  const spread = machineSpread(machine)
  let call: TuningCall | undefined
  return {
    source: {
      kind: 'simulator',
      name: `simulator, profile ${name}`.slice(0, measurementLimits.sourceCharacters),
      machine: formatMachine(machine).slice(0, measurementLimits.sourceCharacters),
    },
    isComputed: true,
    algorithms: ownAlgorithms,
    settings: (served) => ownSettings(served, segments),
    begin: async (begun) => {
      call = begun
    },
    verify: async () => 'right',
    time: async (setting) => ({ callUs: [simulatedUs(machine, spread, call!, setting)], barrierUs: [0] }),
    end: async () => {},
  }
}

function simulatedUs(
  machine: Machine,
  spread: PlacedSpread,
  call: TuningCall,
  setting: TuningSetting,
): number {
  const parsed = parseAlgorithm(settingLine(setting), call.collective)
  return simulatedCallUs(parsed, call, machine, Int32Array.from(membersOf(spread, call)))
}
