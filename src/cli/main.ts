#!/usr/bin/env node
import { runCli, wantsJson } from './cli.js'
import { exitCodes } from './command.js'
import { processStreams } from './streams.js'

const argv = process.argv.slice(2)
const streams = processStreams({ ownStdout: wantsJson(argv) })
const exitCode = await runCli(argv, streams)
const lost = await streams.flushed()
if (lost !== null) streams.stderr(`ERR_FILE: cannot write the output: ${lost.message}\n`)
// A user's program may leave timers or sockets behind; its world has ended, so the command ends too.
process.exit(exitCode === exitCodes.ok && lost !== null ? exitCodes.badInput : exitCode)
