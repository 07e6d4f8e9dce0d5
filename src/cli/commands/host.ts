import { closeSync, fchmodSync, openSync, writeFileSync } from 'node:fs'
import { RankweaveError, reasonText } from '../../errors.js'
import { host, type OpenWorld } from '../../launch/websocket/host.js'
import { shortestSilenceMs, silenceLimits } from '../../launch/websocket/settings.js'
import { shellWord } from '../../text/printable.js'
import { addOptions, flag, json, option, readOptions, seconds, whole } from '../input/options.js'
import { listenOf, listenOptions } from '../input/server-options.js'
import { machineHelp } from '../input/spec-help.js'
import {
  matchingDesignOption,
  tuningOf,
  tuningOption,
  worldMachineOf,
  worldMachineOption,
  worldOptions,
} from '../input/world-options.js'
import { exitCodes } from '../output/exit-codes.js'
import type { AddCommand, Reporter } from '../output/reporter.js'
import { counted, held, row, secondsText, shown } from '../output/result-rows.js'

/**
 * Writes a token to a file that only this user can read, from the first byte, even if the file exists.
 *
 * @throws ERR_FILE
 */
export function writeToken(file: string, token: string): void {
  try {
    const opened = openSync(file, 'w', 0o600)
    try {
      // The mode above applies to a new file only.
      fchmodSync(opened, 0o600)
      writeFileSync(opened, `${token}\n`)
    } finally {
      closeSync(opened)
    }
  } catch (cause) {
    throw new RankweaveError('ERR_FILE', `${file} cannot be written: ${reasonText(cause)}`, { cause })
  }
}

const help = `
Prints where processes join, and the token that lets them; then waits until the world has ended. This process hosts no
rank: it admits processes, decides which are lost, and relays for those that cannot be reached. Its end ends the world.

A process with the token can run code of the world's program with your data: pass it by a file or the environment, not as an
argument, which every user of a host can read. Beyond one host, use TLS.

Exit codes: 0 when every process has left and no rank has failed; 3 when the world has failed or a process was lost.

Examples:
  rankweave host -n 8 --processes 2                          a world for two processes of this host
  rankweave host -n 8 --processes 2 --listen 0.0.0.0:7000    for other hosts, too
  rankweave host -n 8 --token-file token                     write the token to a file that only you can read
  RANKWEAVE_TOKEN=$(cat token) rankweave join ws://login:7000 program.ts`

const optionTable = {
  ranks: worldOptions.ranks,
  processes: option(
    '--processes <number>',
    'processes that are to join (default: one per rank)',
    whole(1, 1024),
  ),
  ...listenOptions('127.0.0.1:0'),
  ...tuningOption,
  ...worldMachineOption,
  ...matchingDesignOption,
  tokenFile: option('--token-file <file>', 'write the token there instead of printing it'),
  silence: option(
    '--silence <seconds>',
    'a process that has been silent for so long is lost (default: 30)',
    seconds(86_400, shortestSilenceMs / 1000),
  ),
  diagnose: flag('--diagnose', 'every process names the line of its program in errors and reports'),
  json,
}

export const hostCommand: AddCommand = (command, act) => {
  addOptions(command, optionTable)
    .addHelpText('after', `${help}\n${machineHelp}`)
    .action(
      act(async (report: Reporter, raw: unknown) => {
        const options = readOptions(optionTable, raw)
        const { ranks, processes, tokenFile, silence, matchingDesign: design } = options
        const listen = listenOf(options)
        const tuning = await tuningOf(options, 'websocket')
        const machine = await worldMachineOf(options)
        const world = await host({
          ranks,
          tuning,
          ...(processes === undefined ? {} : { processes }),
          ...(options.diagnose ? { diagnose: true } : {}),
          ...(machine === undefined ? {} : { machine }),
          ...(design === undefined ? {} : { matching: { design } }),
          ...(listen === undefined ? {} : { listen }),
          ...(silence === undefined ? {} : { limits: silenceLimits(Math.round(silence * 1000)) }),
        })
        const interrupt = () => void world.close('it was interrupted')
        process.once('SIGINT', interrupt).once('SIGTERM', interrupt)
        try {
          if (tokenFile !== undefined) writeToken(tokenFile, world.token)
          show(report, world, tokenFile)
          return await wait(report, world)
        } finally {
          process.off('SIGINT', interrupt).off('SIGTERM', interrupt)
          await world.close()
        }
      }),
    )
}

function show(report: Reporter, { url, token, ranks, processes }: OpenWorld, tokenFile?: string): void {
  const how =
    tokenFile === undefined
      ? `RANKWEAVE_TOKEN=${token} rankweave join ${url} program.ts`
      : `rankweave join ${url} --token-file ${shellWord(tokenFile)} program.ts`
  report.rows([
    row('url', url, 'address'),
    tokenFile === undefined ? row('token', token) : row('tokenFile', tokenFile, 'token', `in ${tokenFile}`),
    held({ ranks }),
    row('processes', processes, 'waits for', counted(processes, 'process', 'processes')),
    shown('join with', how),
  ])
  if (url.startsWith('ws:') && !/^ws:\/\/(127\.|\[::1\]|localhost)/.test(url))
    report.note('Without TLS (--tls-cert, --tls-key) the token and all data can be read on the way.')
}

async function wait(report: Reporter, { ended, ranks, processes }: OpenWorld) {
  const began = performance.now()
  const { lost, failed, closed } = await ended
  const took = secondsText((performance.now() - began) / 1000)
  const world = `${counted(ranks, 'rank', 'ranks')} on ${counted(processes, 'process', 'processes')}`
  for (const { process, reason } of lost) report.note(`process ${process} was lost: ${reason}`)
  if (failed !== null) report.note(`the world has failed: ${failed}`)
  if (closed !== null) report.note(`${world}: closed after ${took}: ${closed}`)
  else report.note(`${world}: ended after ${took}`)
  return lost.length > 0 || failed !== null || closed !== null ? exitCodes.worldFailed : exitCodes.ok
}
