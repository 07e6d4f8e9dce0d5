import { benchCommand } from './bench.js'
import { calibrateCommand } from './calibrate.js'
import type { AddCommand } from './command.js'
import { exportCommand } from './export.js'
import { machineCommand } from './machine.js'
import { modelsCommand } from './models.js'
import { mpiInfoCommand } from './mpi-info.js'
import { planCommand } from './plan.js'
import { recordCommand } from './record.js'
import { reportCommand } from './report.js'
import { scheduleCommand } from './schedule.js'
import { serveCommand } from './serve.js'
import { shimCommand } from './shim.js'
import { simulateCommand } from './simulate.js'
import { splitCommand } from './split.js'
import { spmmCommand } from './spmm.js'
import { studyCommand } from './study.js'
import { topologyCommand } from './topology.js'
import { verifyCommand } from './verify.js'
import { worldCommands } from './world-commands.js'

/** In the order of help. */
export const allCommands: readonly AddCommand[] = [
  ...worldCommands,
  serveCommand,
  splitCommand,
  spmmCommand,
  topologyCommand,
  planCommand,
  scheduleCommand,
  verifyCommand,
  simulateCommand,
  studyCommand,
  reportCommand,
  exportCommand,
  shimCommand,
  recordCommand,
  machineCommand,
  mpiInfoCommand,
  benchCommand,
  calibrateCommand,
  modelsCommand,
]
