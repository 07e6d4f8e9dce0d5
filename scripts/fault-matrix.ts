// Writes docs/fault-matrix.md; `npm run docs:faults`.
import { writeFileSync } from 'node:fs'
import { faultMatrixPage } from '../test/support/faults/fault-matrix-page.js'

writeFileSync(new URL('../docs/fault-matrix.md', import.meta.url), faultMatrixPage())
