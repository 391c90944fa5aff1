import { watermark } from './watermark.ts'

const place = (turn: number, id = turn) => ({ turn: String(turn), id: String(id) })

/** A mark under a clock that the test moves. */
const markAt = () => {
  const clock = { nowMs: 10_000 }
  return { clock, mark: watermark(() => clock.nowMs) }
}

test('a lane is looked at in full until its claims are two seconds old', () => {
  const { clock, mark } = markAt()
  mark.note(undefined, place(5))
  clock.nowMs += 999
  expect(mark.from()).toBeUndefined()
  mark.note(undefined, place(90))
  clock.nowMs += 1_001
  mark.note(undefined, place(200))
  expect(mark.from()).toEqual(place(5))
  clock.nowMs += 999
  mark.note(mark.from(), place(300))
  expect(mark.from()).toEqual(place(90))
})

test('a full look is due every second, and after an empty answer unless there has just been one', () => {
  const { clock, mark } = markAt()
  mark.note(undefined, place(5))
  clock.nowMs += 2_100
  mark.note(undefined, place(6))
  expect(mark.from()).toEqual(place(5))
  expect(mark.looksAgain()).toBe(false)
  clock.nowMs += 200
  expect(mark.looksAgain()).toBe(true)
  clock.nowMs += 800
  expect(mark.from()).toBeUndefined()
})

test('a latecomer found by a full look moves no mark back', () => {
  const { clock, mark } = markAt()
  mark.note(undefined, place(50))
  clock.nowMs += 500
  mark.note(undefined, place(7))
  clock.nowMs += 2_500
  mark.note(undefined, undefined)
  expect(mark.from()).toEqual(place(50))
})

test('places of one turn are told apart by their ids, also beyond what a float can hold', () => {
  const { clock, mark } = markAt()
  mark.note(undefined, place(5, 9_007_199_254_740_993))
  mark.note(undefined, { turn: '5', id: '9007199254740992' })
  clock.nowMs += 2_000
  mark.note(undefined, undefined)
  expect(mark.from()).toEqual(place(5, 9_007_199_254_740_993))
})
