import { type Calibration, type CalibrationOptions, calibrate } from '../../calibrate/calibrate.js'
import type { Communicator } from '../../handles/communicator.js'

/** Runs `rankweave calibrate` on every rank; rank 0 returns the figures. */
export default function main(world: Communicator, options: CalibrationOptions): Promise<Calibration | null> {
  return calibrate(world, options)
}
