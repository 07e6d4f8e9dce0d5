import * as browser from '../../src/entry/browser.js'
import * as client from '../../src/entry/client.js'
import * as conformance from '../../src/entry/conformance.js'
import * as errors from '../../src/entry/errors.js'
import * as fabric from '../../src/entry/fabric.js'
import * as graphology from '../../src/entry/graphology.js'
import * as index from '../../src/entry/index.js'
import * as machine from '../../src/entry/machine.js'
import * as models from '../../src/entry/models.js'
import * as rendezvous from '../../src/entry/rendezvous.js'
import * as schedule from '../../src/entry/schedule.js'
import * as spmm from '../../src/entry/spmm.js'
import * as topology from '../../src/entry/topology.js'

/** What users import: the values of every file of `src/entry`, by its name. */
export const entries: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  ...{ index, topology, machine, schedule, models, spmm, graphology },
  ...{ fabric, rendezvous, client, browser, conformance, errors },
}
