export { openTestDatabase, useDatabase, type TestDatabase } from './database.ts'
export { gate, type Gate } from './gate.ts'
