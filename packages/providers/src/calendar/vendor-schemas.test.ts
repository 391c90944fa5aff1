import { randomUUID } from 'node:crypto'
import { contractDraft, ORGANIZER } from './contract.testing.ts'
import { forEachCalendar } from './stage.testing.ts'

const itWithSchemas = process.env.VENDOR_SCHEMAS ? it : it.skip

// The stage holds every request against the schemas, here and in all parts of the contract.
forEachCalendar((subject, stage) => {
  itWithSchemas('sends only what its schemas allow (needs VENDOR_SCHEMAS, a folder of them)', async () => {
    const plain = contractDraft({ location: undefined, attendees: [] })
    const { eventId } = await stage.scene.written(plain)
    await stage.scene.written(contractDraft({ conference: true }))
    await stage.readBusy([ORGANIZER, 'bo@example.com', `${subject.provider}@nowhere.example`])
    await stage.read(eventId)
    await stage.find(randomUUID())
    for (const conference of [false, true]) {
      const changed = contractDraft({ conference })
      expect(await stage.update({ eventId }, changed, undefined)).toMatchObject({ type: 'written' })
    }
    expect(await stage.cancel(eventId)).toEqual({ type: 'cancelled' })
  })
})
