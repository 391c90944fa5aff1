/** What makes a Node process believe that it is earlier or later, as a machine with a wrong clock does. */
const preload = (offsetMs: number): string => `
const Real = Date
globalThis.Date = class Date extends Real {
  constructor(...given) {
    if (given.length === 0) super(Real.now() + ${offsetMs})
    else super(...given)
  }
  static now() { return Real.now() + ${offsetMs} }
}`

/** The value of NODE_OPTIONS. The monotonic clock, which no setting of the time moves, stays as it is. */
export const shiftedClock = (offsetMs: number): string =>
  `--import=data:text/javascript,${encodeURIComponent(preload(offsetMs))}`
