/** First step number of every exchange of a split; patterns use up to 64 steps from there. */
export const exchangeSteps = {
  collect: 2_000,
  agree: 2_100,
  exchange: 2_200,
  ends: 2_300,
  items: 2_400,
  reslice: 2_500,
  replicate: 2_600,
  shadow: 2_700,
  samples: 2_800,
  quicksort: 5_000_000,
  /** Every round of the splitter search takes 128 steps. */
  splitters: 10_000,
} as const
