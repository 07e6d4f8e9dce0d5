import { wrongValue } from '../../errors.js'
import type { ProcessFacts } from '../matching-queues/design.js'
import type { Entry } from '../matching-queues/entry.js'
import { EntryList } from '../matching-queues/entry-list.js'
import { defaultMailboxDesign, type MailboxDesign } from '../matching-queues/mailbox-designs.js'
import type { MatchingList } from '../matching-queues/matching-list.js'

/** The module with all designs but the default. */
type DesignModule = typeof import('./design-list.js')

let load: (() => Promise<DesignModule>) | undefined
let loaded: DesignModule | undefined

/** Sets how the designs are loaded when a world or a `dup` chooses one. Pages do not have them. */
export function loadMailboxDesignsBy(loader: () => Promise<DesignModule>): void {
  load ??= loader
}

/** Loads the designs, unless the chosen one is the default, or this is a page. */
export async function loadMailboxDesigns(design: MailboxDesign | undefined): Promise<void> {
  if (design !== undefined && design !== defaultMailboxDesign) loaded ??= await load?.()
}

/** @throws ERR_ARGUMENT for a design that a page does not have */
export function requireMailboxDesigns(where: string, design: MailboxDesign | undefined): void {
  if (load !== undefined || design === undefined || design === defaultMailboxDesign) return
  throw wrongValue('ERR_ARGUMENT', `${where}: expected design '${defaultMailboxDesign}' in a page`, design)
}

/** Returns the design that a mailbox gets: the requested one, or the default if designs are not loaded. */
export function usedMailboxDesign(design: MailboxDesign | undefined): MailboxDesign {
  return loaded === undefined || design === undefined ? defaultMailboxDesign : design
}

/**
 * Returns an empty queue of a mailbox.
 *
 * @param design from {@link usedMailboxDesign}
 */
export function mailboxList<E extends Entry>(
  design: MailboxDesign,
  holds: 'patterns' | 'messages',
  facts: ProcessFacts,
): MatchingList<E> {
  return design === defaultMailboxDesign || loaded === undefined
    ? new EntryList<E>(holds)
    : new loaded.DesignList<E>(design, holds, facts)
}
