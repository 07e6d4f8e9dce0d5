#!/usr/bin/env node
// The command `rankweave`. It is here and not in dist/, so that npx finds it in a checkout that is not built yet: npx
// keeps what it found.
import { existsSync } from 'node:fs'

const main = new URL('../dist/cli/main.js', import.meta.url)
const [major, minor] = process.versions.node.split('.').map(Number)
if (major < 20 || (major === 20 && minor < 9))
  refuse(`rankweave needs Node.js 20.9 or newer, got ${process.versions.node}`)
else if (existsSync(main)) await import(main.href)
else refuse('rankweave is not built: type npm run build in this checkout')

/** @param {string} message */
function refuse(message) {
  process.stderr.write(`ERR_USAGE: ${message}\n`)
  process.exitCode = 2
}
