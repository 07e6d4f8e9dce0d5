import type { Collective } from '../../schedule/specification.js'
import type { CollectivePlans, PlanChoice } from './collective-plan.js'
import { reasonOf } from './default-rule.js'
import { leftToRule } from './tuned-calls.js'

/** An algorithm that has carried out calls of a collective on a communicator, in this process. */
export interface AlgorithmUse {
  readonly collective: Collective
  /** Its id, as `schedule --list` has it; null for messages that the collective writes without a plan. */
  readonly algorithm: string | null
  /** The number of segments into which it cuts every unit of data. */
  readonly segments: number
  /** The number of its participants: processes, or pieces of ranks in the order of a reduction. */
  readonly participants: number
  /** The number of calls since its plan was made, except those of persistent operations. */
  readonly calls: number
  /** The reason the last of these calls used it. */
  readonly why: string
}

/**
 * Returns the algorithms that have run, most calls first, from the plans that are retained, at most 32 per
 * communicator. Plans for several roots count together.
 */
export function algorithmUses(plans: CollectivePlans): AlgorithmUse[] {
  const uses = new Map<string, AlgorithmUse>()
  for (const { algorithm, shape, calls, choice, participants } of plans.retained) {
    if (calls === 0) continue
    const { collective, id } = algorithm
    const { segments = 1 } = shape
    const key = `${collective} ${id} ${segments} ${participants.process.length}`
    const found = uses.get(key)
    uses.set(key, {
      ...{ collective, algorithm: id, segments, participants: participants.process.length },
      calls: calls + (found?.calls ?? 0),
      why: whyOf(choice),
    })
  }
  if (plans.inlineBcasts > 0) {
    uses.set('bcast', {
      ...{ collective: 'bcast', algorithm: null, segments: 1, participants: 0, calls: plans.inlineBcasts },
      why: `short data travel with the head of the call${plans.inlineChoice === undefined ? '' : unservedText(plans.inlineChoice)}`,
    })
  }
  return [...uses.values()].sort((a, b) => b.calls - a.calls)
}

function whyOf(choice: PlanChoice | undefined): string {
  if (choice === undefined) return 'chosen by the root'
  if (choice.by === 'call') return 'named by the call'
  if (choice.by === 'machine') return `the machine of the world: ${choice.chosenFor}`
  if (choice.by === 'file') return `tuning file: ${choice.leaf!.conditions()}`
  const instead = choice.instead === undefined ? '' : `; ${choice.instead}`
  return `rule: ${reasonOf(choice.facts)}${instead}${unservedText(choice)}`
}

/** Returns why the rule decided although the tuning file has a leaf. */
function unservedText({ leaf, refusal }: PlanChoice): string {
  if (refusal === leftToRule) return `; the tuning file leaves it to the rule: ${leaf!.conditions()}`
  return leaf === undefined ? '' : `; not ${leaf.line} of the tuning file (${leaf.conditions()}): ${refusal}`
}
