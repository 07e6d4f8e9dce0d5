import { fileURLToPath } from 'node:url'
import { Command, CommanderError } from 'commander'
import {
  type ErrorDetails,
  isRankweaveError,
  RankweaveError,
  reasonText,
  shortened,
  throwingRank,
} from '../errors.js'
import { ownModule, ownVersion } from '../package-paths.js'
import { commands, type ListedCommand } from './commands/commands.js'
import {
  type ExitCode,
  exitCodeOfSignal,
  exitCodes,
  Interrupted,
  OutputLost,
  WorldFailure,
} from './output/exit-codes.js'
import { ownWords } from './output/own-command.js'
import type { Act } from './output/reporter.js'
import { type Reporter, reporter } from './output/reporter.js'
import { exitCodeOf, type Streams } from './output/streams.js'

const help = `
Start here:
  rankweave run program.ts -n 2 --fabric threads --processes 2
                                                    run your own program on 2 threads
  rankweave spmm -n 64                              multiply a built-in sparse matrix on 64 ranks
  rankweave split -n 1000000                        split a million ranks and report the cost
  rankweave topology moore:64x64:r=4                describe a topology
  rankweave plan moore:64x64:r=4 --k 4              plan its neighbor allgather
  rankweave schedule --list                         list algorithms of collectives
  rankweave simulate allgather-ring --machine cluster:nodes=4,cores=16,profile=simgrid-fast --bytes 4096
                                                    predict what it costs on a machine
  rankweave export moore:8x8:r=1 --format c -o plan.c
                                                    write a plan as a C program for MPI
  rankweave study moore:16x16:r=2 --machine cluster:nodes=16,cores=16,profile=simgrid-fast
                                                    compare its strategies there, by block length
  rankweave report moore:16x16:r=2 -o report.html    pictures of a plan and its traffic, in one file
  rankweave host -n 8 --processes 2                 open a world for processes of several hosts
  rankweave serve                                   serve plans and communicators to programs in any language
  rankweave measure -n 2                            measure messages and collectives between threads

Every command takes --json (one object on standard output) and --help (with examples).
Exit codes:
  0   done
  1   a check failed: a wrong product, a plan with violations, a wrong split, a violated guideline
  2   bad input: options, files, a full disk, a program that cannot be loaded, no MPI
  3   the program's world failed: a rank threw, a deadlock, a lost process, Ctrl-C or SIGTERM
  70  a bug in rankweave
  130 Ctrl-C ended measure, record or a command that runs neither a world nor a service; 129 and 143: SIGHUP, SIGTERM
  141 the reader of the output left early (| head), which ends a program's world`

/** Runs one command line. Never throws; returns the process's exit code. */
export async function runCli(argv: readonly string[], streams: Streams): Promise<number> {
  const names = commands.map(({ name }) => name)
  const words = ownWords(names, streams.ownCommand ?? (() => 'rankweave'))
  const report = reporter(streams, wantsJson(argv), undefined, words)
  let exitCode: ExitCode = exitCodes.ok
  const program = new Command('rankweave')
    .description(
      'Runs copies of a TypeScript function on all cores, hosts or browser tabs; they exchange data by the calls of MPI.\n' +
        'Also plans the neighbor exchanges of MPI programs, so that they send fewer messages.',
    )
    .version(ownVersion(), '--version', 'print the version')
    .helpOption('-h, --help', 'print help')
    .commandsGroup('Inspection:')
    .helpCommand('help [command]', 'print the help of a command')
    .addHelpText('after', help)
    .showSuggestionAfterError()
    .configureOutput({ writeOut: (text) => streams.stdout(words(text)), writeErr: () => {} })
    .exitOverride()
  program.hook('preAction', async (_, command) => {
    const { machine } = command.opts()
    if (typeof machine !== 'string' || !machine.startsWith('here')) return
    const { machineHere } = await import('./program/machine-here.js')
    command.setOptionValueWithSource('machine', await machineHere(report.note, machine), 'cli')
  })
  await addCommands(program, argv, (action) => async (...args) => {
    exitCode = (await action(report, ...args)) ?? exitCodes.ok
  })
  if (argv.length === 0) {
    streams.stderr(words(program.helpInformation() + help.concat('\n')))
    return exitCodes.badInput
  }
  try {
    await program.parseAsync(withoutHelpOfUnknown(argv), { from: 'user' })
    return exitCode
  } catch (error) {
    return fail(error, report, argv)
  }
}

/** Adds every command: name and description of all, the rest only of those that may run. */
async function addCommands(program: Command, argv: readonly string[], act: Act): Promise<void> {
  const wanted = new Set(commandsIn(argv))
  const usages = new Map(commands.map(({ name, usage }) => [name, usage]))
  program.configureHelp({
    subcommandTerm: (command) => {
      const name = command.name()
      return `${name} ${usages.get(name) ?? command.usage()}`
    },
  })
  for (const listed of commands) {
    const command = program.command(listed.name).description(listed.description).helpGroup(`${listed.group}:`)
    if (wanted.has(listed)) (await listed.load())(command, act)
  }
}

/** Returns the command that the first word names or, failing that, the commands of all words. */
function commandsIn(argv: readonly string[]): readonly ListedCommand[] {
  const named = (word: string | undefined) => commands.filter(({ name }) => name === word)
  const first = named(argv[0] === 'help' ? argv[1] : argv[0])
  return first.length > 0 ? first : commands.filter(({ name }) => argv.includes(name))
}

/** Removes a request for help if the command does not exist: commander would print help and report no error. */
function withoutHelpOfUnknown(argv: readonly string[]): readonly string[] {
  const word = argv.find((each) => !each.startsWith('-'))
  if (word === undefined || word === 'help' || commands.some(({ name }) => name === word)) return argv
  return argv.filter((each) => each !== '--help' && each !== '-h')
}

/** Returns whether `--json` is among the command's own arguments, before `--`. */
export function wantsJson(argv: readonly string[]): boolean {
  const end = argv.indexOf('--')
  return argv.slice(0, end < 0 ? undefined : end).includes('--json')
}

function fail(error: unknown, report: Reporter, argv: readonly string[]): number {
  if (error instanceof CommanderError) {
    if (error.exitCode === 0) return exitCodes.ok
    // Commander throws this after the help of a command that does not exist.
    const message =
      error.code === 'commander.help'
        ? 'help: unknown command'
        : error.message.replace(/^error: /, '').replace('\n', ' ') +
          threadsHint(error, argv) +
          startHint(error, argv) +
          programHint(error, argv)
    return refuse(
      new RankweaveError('ERR_USAGE', `${shortened(message)} (see --help)`),
      exitCodes.badInput,
      report,
    )
  }
  // The owner of the streams reports it.
  if (error instanceof OutputLost) return exitCodeOf(error)
  if (error instanceof Interrupted) return refuse(error.cause, exitCodeOfSignal(error.signal), report)
  if (error instanceof WorldFailure) return refuse(error.cause, exitCodes.worldFailed, report)
  if (error instanceof RankweaveError) return refuse(error, exitCodes.badInput, report)
  report.note('This is a bug in rankweave. Please report it with the command line and the following lines:')
  return refuse(error, exitCodes.defect, report)
}

/** Returns how a world gets threads, after an attempt to give their number by an option of its own. */
function threadsHint({ message }: CommanderError, argv: readonly string[]): string {
  const isMeant = argv[0] === 'run' && message.includes("unknown option '--threads")
  return isMeant ? '; for two threads: --fabric threads --processes 2' : ''
}

/** Returns the command that runs a program, after the name of a program alone. */
function programHint({ code }: CommanderError, [word = '']: readonly string[]): string {
  const isMeant = code === 'commander.unknownCommand' && /\.[cm]?[jt]sx?$/.test(word)
  return isMeant ? `; to run a program: rankweave run ${word} -n 4` : ''
}

/** Returns where the command that starts a program goes, after an option that is its own. */
function startHint({ code }: CommanderError, argv: readonly string[]): string {
  const isMeant = ['advise', 'record'].includes(argv[0]) && !argv.includes('--')
  return code === 'commander.unknownOption' && isMeant
    ? `; write the command after --: rankweave ${argv[0]} -- mpirun -n 16 ./program`
    : ''
}

function refuse(error: unknown, exitCode: number, report: Reporter): number {
  const { code, message, details } = describe(error)
  report.note(`${code}: ${message}`)
  const rank = exitCode === exitCodes.worldFailed ? throwingRank(error) : undefined
  if (rank !== undefined) report.note(`  thrown by rank ${rank} of the world`)
  const stack = stackOf(error, exitCode)
  if (stack !== '') report.note(stack)
  if (report.json)
    report.result({ error: { code, message, details, ...(rank === undefined ? {} : { rank }) } }, '')
  return exitCode
}

/** Returns a stack: none for bad input, the user's frames for a failed program, every frame for a bug. */
function stackOf(error: unknown, exitCode: number): string {
  if (exitCode === exitCodes.defect) return error instanceof Error ? (error.stack ?? '') : ''
  const ofProgram = exitCode === exitCodes.worldFailed || isRankweaveError(error, 'ERR_PROGRAM')
  return ofProgram ? userFrames(error) : ''
}

/** Describes an error. The code of an error of a user's program is the error's own name. */
function describe(error: unknown): { code: string; message: string; details: ErrorDetails } {
  if (error instanceof RankweaveError) return error
  if (error instanceof Error) return { code: error.name, message: error.message, details: {} }
  return { code: 'Error', message: reasonText(error), details: {} }
}

/** The folder of this library's own code. */
const ownFolder = new URL('.', ownModule('package-paths'))
/** Parts of frames of this library, and of those that it calls and is called by. */
const ofLibraries = [
  ...['commander', 'esbuild', 'tsx', 'ws'].map((name) => `/node_modules/${name}/`),
  // Frames have a URL, or a path as in a compiler's source map.
  ...[ownFolder.href, fileURLToPath(ownFolder)],
]
/** Parts of frames that are not the user's: also those of Node and of built-in functions. */
const notUsers = ['(node:', 'at node:', '(<anonymous>)', ...ofLibraries]
/** The most causes of causes that are searched; an error may be its own. */
const deepestCause = 8

/**
 * Returns the place in the user's code from which an error comes. It is the stack of the first error in its chain of
 * causes that is not this library's, or of the error itself. Frames of Node and of this library are left out. Empty
 * when there are no others.
 */
function userFrames(error: unknown): string {
  const origin = foreignCause(error)
  if (origin instanceof Error) return frames(origin, true)
  return error instanceof Error ? frames(error, false) : ''
}

function foreignCause(error: unknown): unknown {
  let cause = error
  for (let depth = 0; cause instanceof RankweaveError && depth < deepestCause; depth++) cause = cause.cause
  return cause instanceof RankweaveError ? undefined : cause
}

/** @param always all frames rather than none, if no library has any */
function frames({ stack = '', name }: Error, always: boolean): string {
  const lines = stack.split('\n')
  const isFrame = (line: string) => /^\s+at /.test(line)
  // For a module that cannot be linked or parsed, Node puts the place before the name.
  const header = lines.findIndex((line) => line.startsWith(name))
  const place = lines.slice(0, Math.max(0, header)).filter((line) => line !== '')
  const all = lines.slice(header + 1).filter(isFrame)
  const has = (parts: readonly string[]) => (line: string) => parts.some((part) => line.includes(part))
  const users = all.filter((line) => !has(notUsers)(line))
  const showsAll = users.length === 0 && always && place.length === 0 && !all.some(has(ofLibraries))
  return [...place, ...(showsAll ? all : users)].join('\n')
}
