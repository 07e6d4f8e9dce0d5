import { requireWaitOptions, type WaitOptions } from '../base/abort.js'
import { hashIntegers } from '../base/hash.js'
import type { Exchange } from '../calls/exchange/exchange.js'
import type { CollectiveCall } from '../calls/matching/collective-call.js'
import type { CollectiveName } from '../calls/signature.js'
import { wrongValue } from '../errors.js'
import type { CommState } from './comm-state.js'
import { type CommHandle, handlesOf, type MakeHandle } from './comm-state.js'
import { runSplit } from './split/run-split.js'
import type { ColorAndKey, PlannedSplit, SplitRequest } from './split/split-call.js'
import {
  checkSplitOptions,
  planSplit,
  type SplitOptions,
  type SplitPlan,
  splitAgreement,
} from './split/split-plan.js'

// These functions throw on invalid arguments; the methods of a communicator turn that into rejections.

const maxColor = 0x7fffffff

export function split<H>(
  comm: CommHandle,
  make: MakeHandle<H>,
  color: number | null,
  key: number,
  options?: SplitOptions,
): Promise<H | null> {
  return callSplit(comm, make, 'split', { color: checkColor(color), key: checkKey(key) }, options)
}

export function splitType<H>(
  comm: CommHandle,
  make: MakeHandle<H>,
  type: 'node',
  key: number,
  options?: WaitOptions,
): Promise<H> {
  if (type !== 'node') throw wrongValue('ERR_ARGUMENT', "splitType: expected 'node'", type)
  requireWaitOptions('splitType', options)
  const { layout, process } = comm.seat().state.runtime
  const color = layout.nodeOfProcess[process]
  return callSplit(comm, make, 'splitType', { color, key: checkKey(key) }, options) as Promise<H>
}

function callSplit<H>(
  comm: CommHandle,
  make: MakeHandle<H>,
  name: CollectiveName,
  contribution: ColorAndKey,
  options: SplitOptions | undefined,
): Promise<H | null> {
  const { state, localIndex } = comm.seat()
  const { call } = plannedSplit(state, make, name, options)
  return state.collectives.call(localIndex, call, contribution, options) as Promise<H | null>
}

function plannedSplit<H>(
  state: CommState,
  make: MakeHandle<H>,
  name: CollectiveName,
  options: SplitOptions | undefined,
): PlannedSplit {
  const last = state.plannedSplit
  if (last !== undefined && last.name === name && last.isSame(options)) return last
  const { count } = state.processes
  checkSplitOptions(options, count)
  const plan = planSplit(state.size, count, options)
  const agreed = splitAgreement.words(options)
  const call: CollectiveCall<ColorAndKey, unknown> = {
    signature: { name, ...(agreed === undefined ? {} : { extra: hashIntegers(agreed) }) },
    unplaced: true,
    run: (rows, exchange) => {
      const color = new Int32Array(rows.length)
      const key = new Int32Array(rows.length)
      for (let i = 0; i < rows.length; i++) {
        color[i] = rows[i].color
        key[i] = rows[i].key
      }
      return run(state, make, plan, { color, key }, exchange)
    },
  }
  state.plannedSplit = { name, isSame: splitAgreement.sameAs(options), plan, call }
  return state.plannedSplit
}

function run<H>(
  state: CommState,
  make: MakeHandle<H>,
  plan: SplitPlan,
  request: SplitRequest,
  exchange: Exchange,
) {
  return runSplit(state, exchange, request, plan, (outcome) => {
    exchange.finish(handlesOf(state, exchange, make, outcome))
  })
}

/** Returns a valid color; -1 for null. */
function checkColor(color: number | null): number {
  if (color !== null && (!Number.isInteger(color) || color < 0 || color > maxColor))
    throw wrongValue('ERR_COLOR', `split: expected a color from 0 to ${maxColor}, or null`, color)
  return color ?? -1
}

function checkKey(key: number): number {
  if (!Number.isInteger(key) || key !== (key | 0))
    throw wrongValue('ERR_ARGUMENT', 'split: expected a signed 32-bit key', key)
  return key
}
