#!/usr/bin/env node
// The command `rankweave`. It is here and not in dist/, so that npx finds it in a checkout that is not built yet: npx
// keeps what it found.
import { existsSync } from 'node:fs'

const main = new URL('../dist/cli/main.js', import.meta.url)
if (existsSync(main)) await import(main.href)
else {
  process.stderr.write('ERR_USAGE: rankweave is not built: type npm run build in this checkout\n')
  process.exitCode = 2
}
