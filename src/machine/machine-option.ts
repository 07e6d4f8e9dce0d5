import { type Option, valueOption } from '../base/option.js'
import { isMachine, type Machine } from './machine.js'

/** An option that takes a machine, whose contents its user checks. */
export const machineOption: Option<Machine> = valueOption(
  'a machine, such as parseMachine returns',
  isMachine,
  { code: 'ERR_MACHINE' },
)
