import type { Vendor } from '../vendor-schemas.testing.ts'

const event = ['id', 'status', 'start', 'end', 'etag', 'kind', 'iCalUID', 'created', 'updated']

/** Google Calendar API v3, derived from the discovery document. */
export const googleVendor: Vendor = {
  file: 'google-calendar.schema.json',
  requiredInAnswers: {
    Event: event,
    Events: ['kind', 'etag', 'items', 'timeZone', 'accessRole'],
    EventAttendee: ['email', 'responseStatus'],
    ConferenceData: ['createRequest'],
    CreateConferenceRequest: ['requestId', 'conferenceSolutionKey', 'status'],
    EntryPoint: ['entryPointType', 'uri'],
    FreeBusyResponse: ['kind', 'timeMin', 'timeMax', 'calendars'],
    FreeBusyCalendar: ['busy'],
    TimePeriod: ['start', 'end'],
    Error: ['domain', 'reason'],
  },
  requiredInRequests: {
    Event: ['start', 'end'],
    EventDateTime: ['dateTime', 'timeZone'],
    EventAttendee: ['email'],
    CreateConferenceRequest: ['requestId', 'conferenceSolutionKey'],
    FreeBusyRequest: ['timeMin', 'timeMax', 'items'],
    FreeBusyRequestItem: ['id'],
  },
  requiredInPatches: {
    Event: ['summary', 'start', 'end', 'attendees'],
    EventDateTime: ['dateTime', 'timeZone'],
    EventAttendee: ['email'],
    CreateConferenceRequest: ['requestId', 'conferenceSolutionKey'],
  },
  definitions: {
    // In the guide to errors, not in the discovery document.
    refusal: {
      type: 'object',
      required: ['error'],
      properties: {
        error: {
          type: 'object',
          required: ['errors', 'code', 'message'],
          properties: {
            code: { type: 'integer' },
            message: { type: 'string' },
            errors: { type: 'array', minItems: 1, items: { $ref: '#/$defs/refusalReason' } },
          },
        },
      },
    },
    refusalReason: {
      type: 'object',
      required: ['domain', 'reason', 'message'],
      properties: {
        domain: { type: 'string' },
        reason: { type: 'string' },
        message: { type: 'string' },
        locationType: { enum: ['header', 'parameter'] },
        location: { type: 'string' },
      },
      additionalProperties: false,
    },
    anything: {},
  },
  answers: {
    token: 'anything',
    'freebusy.query': 'FreeBusyResponse',
    'events.insert': 'Event',
    'events.get': 'Event',
    'events.list': 'Events',
    'events.patch': 'Event',
    'events.delete': null,
  },
  requests: { 'freebusy.query': 'FreeBusyRequest', 'events.insert': 'Event', 'events.patch': 'Event' },
}
