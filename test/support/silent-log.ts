import type { Log } from '../../src/service/log.js'

/** Drops everything. */
export const silentLog: Log = { info: () => {}, warn: () => {}, error: () => {} }
