// npx tsx scripts/install-node-versions.ts FOLDER: installs every Node.js that `engines` names below FOLDER, and for each the
// packed library as its user would. test/soak/node-versions.soak.ts runs them; it takes nothing from the network itself.
// Needs `npm run build` before, and the registry of npm.
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, join, resolve } from 'node:path'
import { arch, argv, env, platform } from 'node:process'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))

/** The oldest that works, and the newest of each later line; npm has every Node.js as a package with one program. */
export const nodeVersions: readonly string[] = ['20.9.0', '22', '24', '26']

/** Returns the folder of a Node.js below that of all. */
export const binOf = (folder: string, version: string) =>
  join(folder, 'node_modules', `node-${version}`, 'bin')

/** Returns where a Node.js has the library installed; `install.log` has what npm said. */
export const userOf = (folder: string, version: string) => join(folder, `user-${version}`)

if (argv[1] === fileURLToPath(import.meta.url)) install(resolve(argv[2]!))

function install(folder: string): void {
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), '{ "private": true }')
  const wanted = nodeVersions.map((version) => `node-${version}@npm:node-${platform}-${arch}@${version}`)
  npm(['install', ...wanted], folder)
  const tarballs = ['.', 'packages/service'].map((path) => {
    const words = ['pack', '--json', '--ignore-scripts', '--pack-destination', folder]
    return join(folder, (JSON.parse(npm(words, join(root, path))) as { filename: string }[])[0].filename)
  })
  const { devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    readonly devDependencies: Readonly<Record<string, string>>
  }
  for (const version of nodeVersions) {
    const user = userOf(folder, version)
    mkdirSync(user)
    writeFileSync(join(user, 'package.json'), '{ "private": true, "type": "module" }')
    // Below version 22 Node.js does not remove types.
    const others = ['koffi', ...(version.startsWith('20') ? ['tsx'] : [])]
    const packages = [...tarballs, ...others.map((name) => `${name}@${devDependencies[name]}`)]
    const PATH = `${binOf(folder, version)}${delimiter}${env['PATH']}`
    const words = ['install', '--engine-strict', '--prefer-offline', '--no-audit', '--no-fund', ...packages]
    const { status, stderr } = spawnSync('npm', words, { cwd: user, env: { ...env, PATH }, encoding: 'utf8' })
    writeFileSync(join(user, 'install.log'), `${stderr}npm ended with ${status}\n`)
  }
}

function npm(words: readonly string[], cwd: string): string {
  return execFileSync('npm', [...words, '--no-audit', '--no-fund'], { cwd, encoding: 'utf8' })
}
