import { loadMailboxDesignsBy } from './mailbox.js'

/** Lets worlds of this program choose the design of their mailboxes. Idempotent. */
export function installMailboxDesigns(): void {
  loadMailboxDesignsBy(() => import('./design-list.js'))
}
