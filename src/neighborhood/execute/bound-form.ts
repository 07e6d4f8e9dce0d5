import type { CollectiveName } from '../../comm/calls/collective-name.js'
import { requireArray } from '../../comm/calls/collectives/persistent/persistent-moves.js'
import { PersistentForm } from '../../comm/calls/collectives/persistent-form.js'
import type { TypedArray } from '../../comm/datatype/elements.js'

/** The form of a call that is bound to these buffers: no strided views, which would be packed once instead of at every start. */
export function boundForm(
  name: CollectiveName,
  send: unknown,
  recv: unknown,
): { readonly form: PersistentForm; readonly into: TypedArray } {
  requireArray(name, send)
  requireArray(name, recv)
  const into = recv as TypedArray
  return { form: new PersistentForm(name, [send as TypedArray, into]), into }
}
