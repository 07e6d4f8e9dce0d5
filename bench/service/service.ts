import type { Bench, Figure } from '../bench.js'
import { builtProgram } from './built.js'
import { healthPlanning, healthTransfers } from './health.js'
import { page } from './page.js'
import { plans } from './plans.js'
import { worldsSuite } from './worlds.js'

const suites: Readonly<Record<string, (quick: boolean) => AsyncGenerator<Figure>>> = {
  'health-planning': healthPlanning,
  'health-transfers': healthTransfers,
  plans,
  worlds: worldsSuite,
  page,
}

/** The service as its clients see it; the command as published. */
export const serviceBench: Bench = {
  name: 'service',
  question:
    'Does the service answer while it works, how much does it answer, is each distinct plan made once, and does its page respond?',
  async *measure({ quick = false, only = '' } = {}) {
    builtProgram()
    for (const [name, measure] of Object.entries(suites)) if (name.startsWith(only)) yield* measure(quick)
  },
}
