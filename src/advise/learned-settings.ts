import { packedTuning } from '../shim/packed-files.js'
import { cellAxes, closedGrid } from '../tuning/models/decision-grid.js'
import { formatTuningFile, readTuningFile } from '../tuning/models/read-tuning-file.js'
import type { CallFile } from '../tuning/online/call-file.js'
import { callGains } from '../tuning/online/call-gains.js'
import { CallHistory, settingsOfRuns } from '../tuning/online/call-history.js'
import { tunedLogic } from '../tuning/online/grid-selection.js'
import { defaultAlgorithm } from '../tuning/settings/setting.js'

/** Settings of collectives that were faster than MPI's own choice in runs of a program. */
export interface LearnedSettings {
  /** A tuning file, and the form of it that the preloaded library reads. */
  readonly text: string
  readonly packed: Uint8Array
  /** Says what they change, as a sentence without its period. */
  readonly what: string
}

/**
 * Learns settings from runs of one program in which every call drew a setting. Returns null if none was called often
 * enough and is faster than the default.
 *
 * @throws ERR_MEASUREMENT for runs of different programs or libraries
 */
export function learnedSettings(files: readonly CallFile[]): LearnedSettings | null {
  const history = new CallHistory(settingsOfRuns(files))
  for (const file of files) history.add(file)
  const communicators = files.flatMap((file) => file.communicators)
  const most = (of: 'nodes' | 'processesPerNode') =>
    communicators.reduce((largest, communicator) => Math.max(largest, communicator[of]), 1)
  const axes = cellAxes({ nodes: most('nodes'), processesPerNode: most('processesPerNode') })
  const grids = history.learn(axes, { hasPerformances: false })
  const changed = [...grids].flatMap(([collective, learned]) =>
    callGains(collective, learned, history.of(collective), tunedLogic)
      .filter(({ best, ratio }) => best !== 0 && ratio < 1)
      .map(({ best, call }) => ({ call, algorithm: learned.grid.settings[best - 1].algorithm }))
      .filter(({ algorithm }) => algorithm !== defaultAlgorithm),
  )
  if (changed.length === 0) return null
  const decisions = Object.fromEntries([...grids].map(([name, { grid }]) => [name, closedGrid(grid)]))
  const text = formatTuningFile(files[0].source, decisions)
  const named = changed
    .slice(0, 3)
    .map(({ algorithm, call }) => `${call.collective} of ${call.bytes} B by ${algorithm}`)
  const others = changed.length > 3 ? ` and ${changed.length - 3} more` : ''
  return { text, packed: packedTuning(readTuningFile(text)), what: `${named.join(', ')}${others}` }
}
