/**
 * The designs that mailboxes may have, by name. Some designs are left out: `clusters` and `partners-static` start from
 * the counts of an earlier run. `collectives` equals `partners-dynamic` for all that a mailbox gets.
 */
export const mailboxDesigns = [
  'index',
  'list',
  'source-lists',
  'bins',
  'partners-dynamic',
  'array-list',
  'vector-list',
] as const
export type MailboxDesign = (typeof mailboxDesigns)[number]

/** The design of mailboxes that name none. */
export const defaultMailboxDesign: MailboxDesign = 'index'
