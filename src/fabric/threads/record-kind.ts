/** Kinds of records in a ring besides those of `bulkRecord`; all but `frame` stay inside the fabric. */
export const recordKind = { frame: 0, forget: 8 } as const
