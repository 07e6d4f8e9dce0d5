import { abortJobOnEarlyExit } from '../fabric/mpi/mpi-launcher.js'
import { runCli, wantsJson } from './cli.js'
import { exitCodes } from './output/exit-codes.js'
import {
  abortMpiOnEarlyExit,
  exitCodeOf,
  followerStreams,
  isMpiFollower,
  processStreams,
} from './output/streams.js'

const argv = process.argv.slice(2)
const streams = processStreams({ ownStdout: wantsJson(argv) })
abortMpiOnEarlyExit(argv)
const follower = isMpiFollower(argv) ? followerStreams(streams) : undefined
const exitCode = await runCli(argv, follower?.streams ?? streams)
if (exitCode !== exitCodes.ok) await follower?.release()
// A misspelled option may be the one that names MPI: the other processes of the job would wait for this one.
if (exitCode === exitCodes.badInput) abortJobOnEarlyExit()
const lost = await streams.flushed()
if (lost?.closed === false) streams.stderr(`ERR_FILE: ${lost.message}\n`)
// A user's program may leave timers or sockets open; its world has ended, so the command ends.
process.exit(exitCode === exitCodes.ok && lost !== null ? exitCodeOf(lost) : exitCode)
