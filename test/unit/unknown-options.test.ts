import { expect, it } from 'vitest'
import { simulate } from '../../src/cost/simulate/simulate.js'
import { clos } from '../../src/machine/clos.js'
import { cluster } from '../../src/machine/machine.js'
import { simgridFast } from '../../src/machine/simgrid-profiles.js'
import { torus } from '../../src/machine/torus.js'
import { strided } from '../../src/messages/datatype/strided-view.js'
import { chooseStrategy } from '../../src/neighborhood/choose/choose-strategy.js'
import { plan } from '../../src/neighborhood/plan/plan.js'
import { formatSchedule } from '../../src/schedule/file/format-schedule.js'
import { verify } from '../../src/schedule/verify/verify.js'
import { makeStudy } from '../../src/study/make-study.js'
import { buildTopology } from '../../src/topology/files/topology-from-spec.js'
import { erdosRenyiTopology } from '../../src/topology/generate/erdos-renyi.js'
import { mooreTopology } from '../../src/topology/generate/moore.js'
import { powerLawTopology } from '../../src/topology/generate/power-law.js'
import { randomGeometricTopology } from '../../src/topology/generate/random-geometric.js'
import { rmatTopology } from '../../src/topology/generate/rmat.js'
import { smallWorldTopology } from '../../src/topology/generate/small-world.js'
import { stencilTopology } from '../../src/topology/generate/stencil.js'
import { findTranslations } from '../../src/topology/generate/translations.js'

const topology = mooreTopology({ dims: [4, 4], radius: 1 })
const machine = cluster({ nodes: 4, cores: 4, profile: simgridFast })
const { schedule } = plan(topology, { kind: 'direct' })

/** Each with a valid call, its options last. */
const calls: Readonly<Record<string, (unknown: object) => unknown>> = {
  mooreTopology: (unknown) => mooreTopology({ dims: [4, 4], radius: 1, ...unknown }),
  stencilTopology: (unknown) => stencilTopology({ dims: [4], offsets: [[1]], ...unknown }),
  erdosRenyiTopology: (unknown) => erdosRenyiTopology({ ranks: 4, density: 0.5, ...unknown }),
  smallWorldTopology: (unknown) => smallWorldTopology({ ranks: 8, degree: 2, rewiring: 0.5, ...unknown }),
  powerLawTopology: (unknown) => powerLawTopology({ ranks: 8, degree: 2, ...unknown }),
  rmatTopology: (unknown) => rmatTopology({ ranks: 8, degree: 2, ...unknown }),
  randomGeometricTopology: (unknown) => randomGeometricTopology({ ranks: 8, radius: 0.5, ...unknown }),
  findTranslations: (unknown) => findTranslations(topology, unknown),
  buildTopology: (unknown) => buildTopology('moore:4x4:r=1', unknown),
  cluster: (unknown) => cluster({ nodes: 2, cores: 2, ...unknown }),
  torus: (unknown) => torus({ dims: [2, 2], ...unknown }),
  clos: (unknown) => clos({ radix: 4, levels: 2, ...unknown }),
  plan: (unknown) => plan(topology, { kind: 'direct' }, unknown),
  chooseStrategy: (unknown) => chooseStrategy(topology, machine, { bytes: 8, budget: 1, ...unknown }),
  makeStudy: (unknown) =>
    makeStudy(topology, machine, { name: 'grid', bytes: [8], strategies: [], ...unknown }),
  verify: (unknown) => verify(schedule, topology, unknown),
  formatSchedule: (unknown) => formatSchedule(schedule, unknown),
  simulate: (unknown) => simulate(schedule, machine, { bytes: 8, ...unknown }),
  strided: (unknown) => strided(new Int32Array(8), { count: 2, blockLength: 1, stride: 2, ...unknown }),
}

it.each(Object.keys(calls))('%s refuses an option that it does not have', (name) => {
  expect(() => calls[name]({})).not.toThrow()
  expect(() => calls[name]({ unknwon: 1 })).toThrow(
    expect.objectContaining({
      code: 'ERR_ARGUMENT',
      message: expect.stringMatching(new RegExp(`^${name}: expected options among .*, got 'unknwon'`)),
    }),
  )
})
