/** `1 event`, `2 events`. What is counted comes first: `1 thing done by hand`. */
export const counted = (n: number, one: string, rest = ''): string =>
  `${n} ${one}${n === 1 ? '' : 's'}${rest === '' ? '' : ` ${rest}`}`
