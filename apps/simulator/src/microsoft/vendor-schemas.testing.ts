import type { Vendor } from '../vendor-schemas.testing.ts'

const collectionOf = (name: string) => ({
  type: 'object',
  required: ['@odata.context', 'value'],
  properties: { value: { type: 'array', items: { $ref: `#/$defs/${name}` } } },
  patternProperties: { '^@': {} },
  additionalProperties: false,
})

const nullable = (schema: Readonly<Record<string, unknown>>) => ({ anyOf: [schema, { type: 'null' }] })

const zoneChange = {
  dayOccurrence: { type: 'integer', minimum: 1, maximum: 5 },
  dayOfWeek: { type: 'string' },
  month: { type: 'integer', minimum: 1, maximum: 12 },
  time: { type: 'string' },
  year: { type: 'integer' },
}
const zoneChangeRequired = ['dayOccurrence', 'dayOfWeek', 'month', 'time', 'year']

/** Microsoft Graph v1.0, derived from its metadata. */
export const microsoftVendor: Vendor = {
  file: 'microsoft-graph-event-schedule.schema.json',
  requiredInAnswers: {
    event: [
      'id',
      'subject',
      'start',
      'end',
      '@odata.etag',
      'iCalUId',
      'isAllDay',
      'isCancelled',
      'attendees',
    ],
    attendee: ['type', 'status', 'emailAddress'],
    emailAddress: ['address'],
    dateTimeTimeZone: ['dateTime', 'timeZone'],
    scheduleInformation: ['scheduleId'],
    scheduleItem: ['status', 'start', 'end'],
    freeBusyError: ['message', 'responseCode'],
  },
  requiredInRequests: {
    event: ['subject', 'start', 'end', 'transactionId', 'singleValueExtendedProperties'],
    attendee: ['type', 'emailAddress'],
    emailAddress: ['address'],
    dateTimeTimeZone: ['dateTime', 'timeZone'],
  },
  requiredInPatches: {
    event: ['subject', 'start', 'end', 'attendees', 'isAllDay', 'location'],
    attendee: ['type', 'emailAddress'],
    emailAddress: ['address'],
    dateTimeTimeZone: ['dateTime', 'timeZone'],
  },
  definitions: {
    // Microsoft Graph docs, error responses.
    refusal: {
      type: 'object',
      required: ['error'],
      properties: {
        error: {
          type: 'object',
          required: ['code', 'message'],
          properties: {
            code: { type: 'string' },
            message: { type: 'string' },
            innerError: { type: 'object' },
          },
        },
      },
    },
    events: collectionOf('event'),
    schedules: collectionOf('scheduleInformation'),
    // The parameters of the action getSchedule, in the camel case of its documentation.
    scheduleQuery: {
      type: 'object',
      required: ['schedules', 'startTime', 'endTime'],
      properties: {
        schedules: { type: 'array', items: { type: 'string' }, minItems: 1, maxItems: 20 },
        startTime: { $ref: '#/$defs/dateTimeTimeZone' },
        endTime: { $ref: '#/$defs/dateTimeTimeZone' },
        availabilityViewInterval: { type: 'integer', minimum: 5, maximum: 1440 },
      },
      additionalProperties: false,
    },
    // The metadata types working hours' zone by its base; a derived one comes with its name (customTimeZone).
    timeZoneBase: {
      type: 'object',
      required: ['name'],
      properties: {
        '@odata.type': { type: 'string' },
        name: { type: ['string', 'null'] },
        bias: { type: ['integer', 'null'] },
        standardOffset: nullable({
          type: 'object',
          required: zoneChangeRequired,
          properties: zoneChange,
          additionalProperties: false,
        }),
        daylightOffset: nullable({
          type: 'object',
          required: [...zoneChangeRequired, 'daylightBias'],
          properties: { ...zoneChange, daylightBias: { type: 'integer' } },
          additionalProperties: false,
        }),
      },
      additionalProperties: false,
    },
    anything: {},
  },
  answers: {
    token: 'anything',
    'openid.discovery': 'anything',
    'calendar.getSchedule': 'schedules',
    'events.create': 'event',
    'events.get': 'event',
    'events.list': 'events',
    'events.patch': 'event',
    'events.cancel': null,
    'events.delete': null,
  },
  requests: { 'calendar.getSchedule': 'scheduleQuery', 'events.create': 'event', 'events.patch': 'event' },
}
