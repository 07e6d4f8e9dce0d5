import { type Option, valueOption } from '../base/option.js'
import { isMachine, type Machine } from './machine.js'

/** An option that is a machine; what is in it is checked where it is used. */
export const machineOption: Option<Machine> = valueOption(
  'a machine, such as parseMachine returns',
  isMachine,
  { code: 'ERR_MACHINE' },
)
