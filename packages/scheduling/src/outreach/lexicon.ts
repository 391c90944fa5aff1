/** The words, English and German, that mean something in an answer to “when can you?”. All in lower case. */

/** ISO days of the week. Two-letter ones are read elsewhere: “so” and “do” are words of their own. */
const weekdayNames: readonly (readonly string[])[] = [
  ['monday', 'mon', 'montag'],
  ['tuesday', 'tue', 'tues', 'dienstag'],
  ['wednesday', 'wed', 'weds', 'mittwoch'],
  ['thursday', 'thu', 'thur', 'thurs', 'donnerstag'],
  ['friday', 'fri', 'freitag'],
  ['saturday', 'sat', 'samstag', 'sonnabend'],
  ['sunday', 'sun', 'sonntag'],
]

/** Names of which every such day is meant. */
const everyWeekdayNames: readonly (readonly string[])[] = [
  ['mondays', 'montags'],
  ['tuesdays', 'dienstags'],
  ['wednesdays', 'mittwochs'],
  ['thursdays', 'donnerstags'],
  ['fridays', 'freitags'],
  ['saturdays', 'samstags', 'sonnabends'],
  ['sundays', 'sonntags'],
]

const monthNames: readonly (readonly string[])[] = [
  ['january', 'jan', 'januar', 'jänner'],
  ['february', 'feb', 'februar'],
  ['march', 'mar', 'märz', 'maerz', 'mrz'],
  ['april', 'apr'],
  ['may', 'mai'],
  ['june', 'jun', 'juni'],
  ['july', 'jul', 'juli'],
  ['august', 'aug'],
  ['september', 'sep', 'sept'],
  ['october', 'oct', 'oktober', 'okt'],
  ['november', 'nov'],
  ['december', 'dec', 'dezember', 'dez'],
]

const numbered = (lists: readonly (readonly string[])[]): ReadonlyMap<string, number> =>
  new Map(lists.flatMap((names, index) => names.map((name) => [name, index + 1] as const)))

export const weekdayByName = numbered(weekdayNames)
export const everyWeekdayByName = numbered(everyWeekdayNames)
export const monthByName = numbered(monthNames)
export const weekdayByLetters = numbered([['Mo'], ['Di'], ['Mi'], ['Do'], ['Fr'], ['Sa'], ['So']])

/** Longest first, so that “september” is not read as “sep”. */
const longestFirst = (names: Iterable<string>): string =>
  [...names].sort((a, b) => b.length - a.length).join('|')
export const monthPattern = longestFirst(monthByName.keys())
export const weekdayPattern = longestFirst(weekdayByName.keys())

/** Parts of the day. They are proposals to somebody whose clock is known, in minutes of the day. */
export const periodByName: ReadonlyMap<string, readonly [startMinute: number, endMinute: number]> = new Map([
  ...['morning', 'mornings', 'forenoon', 'vormittag', 'vormittags', 'morgens', 'früh'].map(
    (name) => [name, [8 * 60, 12 * 60]] as const,
  ),
  ...['lunchtime', 'mittag', 'mittags'].map((name) => [name, [12 * 60, 14 * 60]] as const),
  ...['afternoon', 'afternoons', 'nachmittag', 'nachmittags'].map(
    (name) => [name, [12 * 60, 18 * 60]] as const,
  ),
  ...['evening', 'evenings', 'abend', 'abends'].map((name) => [name, [18 * 60, 21 * 60]] as const),
])

const set = (words: string): ReadonlySet<string> => new Set(words.split(' '))

/** One of them makes everything in its clause something that does not suit. */
export const negators = set(
  'not no none never cannot cant unable unavailable impossible busy booked occupied except excluding without away ' +
    'bad off conflict conflicts decline travelling traveling vacation holiday holidays dentist flight ' +
    'nicht kein keine keinen keinem keiner nie niemals außer ausser unmöglich verhindert ungünstig schlecht belegt ' +
    'beschäftigt besetzt urlaub abwesend verreist unterwegs ohne weder',
)

/** A new clause begins: what was negated before is not any more. */
export const contrasts = set('but however though although aber jedoch sondern dafür allerdings')
/** A new clause begins, and what follows does not suit. */
export const exceptions = set('except excluding außer ausser')

export const joiners = set('and or und oder sowie plus')
/** Between two days these say from the first to the second. */
export const rangeWords = set('to through')
export const noons = set('noon midday')
export const fromWords = set('from after ab nach since starting frühestens')
export const untilWords = set('until till before by bis vor')
/** In front of a day these mean other days than it. */
export const besideWords = set('after before nach vor')
export const everyWords = set('every each any jeden jede jedem')
/** In front of a day these mean one that is over. */
export const pastWords = set(
  'last past previous letzten letzter letzte vergangenen vorigen gestern yesterday',
)

/** They make a time or a part of the day less than certain. */
export const vagueTimes = set(
  'early late earlier later latest around about roughly approximately approx circa ca gegen etwa ungefähr spät später ' +
    'spätestens früher half halb quarter viertel dreiviertel lunch dinner breakfast mittagessen feierabend midnight ' +
    'mitternacht night tonight nachts eod cob',
)
export const vagueDates = set(
  'end beginning middle mid anfang ende mitte fortnight weekend wochenende month monat soon bald sometime irgendwann',
)

/** Phrases that are taken as a whole before any word of them is looked at. */
export const phrases: readonly (readonly [phrase: string, meaning: Phrase])[] = [
  ['any time', 'any_time'],
  ['anytime', 'any_time'],
  ['all day', 'any_time'],
  ['all day long', 'any_time'],
  ['whole day', 'any_time'],
  ['entire day', 'any_time'],
  ['at all times', 'any_time'],
  ['jederzeit', 'any_time'],
  ['ganztägig', 'any_time'],
  ['ganztags', 'any_time'],
  ['den ganzen tag', 'any_time'],
  ['ganzer tag', 'any_time'],
  ['egal wann', 'any_time'],
  ['any day', 'any_day'],
  ['every day', 'any_day'],
  ['each day', 'any_day'],
  ['jeden tag', 'any_day'],
  ['an jedem tag', 'any_day'],
  ['weekdays', 'weekdays'],
  ['any weekday', 'weekdays'],
  ['werktags', 'weekdays'],
  ['next week', 'next_week'],
  ['nächste woche', 'next_week'],
  ['kommende woche', 'next_week'],
  ['this week', 'this_week'],
  ['diese woche', 'this_week'],
  ['day after tomorrow', 'in_two_days'],
  ['the day after tomorrow', 'in_two_days'],
  ['übermorgen', 'in_two_days'],
  ['am morgen', 'morning'],
  ['tomorrow', 'tomorrow'],
  ['today', 'today'],
  ['heute', 'today'],
  ['guten morgen', 'nothing'],
  ['guten tag', 'nothing'],
  ['guten abend', 'nothing'],
  ['schönen abend', 'nothing'],
  ['schönen tag', 'nothing'],
  ['what about', 'nothing'],
  ['how about', 'nothing'],
  ['good morning', 'nothing'],
  ['good afternoon', 'nothing'],
  ['good evening', 'nothing'],
  ['no problem', 'nothing'],
  ['not a problem', 'nothing'],
  ['no worries', 'nothing'],
  ['kein problem', 'nothing'],
  ["i'm in", 'not'],
  ['i am in', 'not'],
  ['i have a', 'not'],
  ['i have an', 'not'],
  ['have to', 'not'],
  ['already have', 'not'],
  ['habe einen', 'not'],
  ['habe eine', 'not'],
  ['habe ich einen', 'not'],
  ['habe ich eine', 'not'],
  ['habe schon', 'not'],
  ['habe bereits', 'not'],
  ['your time', 'unclear_zone'],
  ['ihre zeit', 'unclear_zone'],
  ['ihrer zeit', 'unclear_zone'],
  ['deine zeit', 'unclear_zone'],
  ['deiner zeit', 'unclear_zone'],
  ['eastern time', 'unclear_zone'],
  ['central time', 'unclear_zone'],
  ['mountain time', 'unclear_zone'],
  ['pacific time', 'unclear_zone'],
]
export type Phrase =
  | 'morning'
  | 'any_time'
  | 'any_day'
  | 'weekdays'
  | 'next_week'
  | 'this_week'
  | 'today'
  | 'tomorrow'
  | 'in_two_days'
  | 'nothing'
  | 'not'
  | 'unclear_zone'

/**
 * Letters for a clock. Each is said of several, or of one that is not in use all year ("EST" in July). In capitals only,
 * for some of them are words.
 */
export const zoneLetters = set(
  'CET CEST MEZ MESZ WET WEST EET EEST MSK BST IST GMT EST EDT ET CST CDT CT MST MDT MT PST PDT PT AKST AKDT HST AST ' +
    'ADT NST NDT BRT ART CLT JST KST HKT SGT PHT WIB AEST AEDT ACST ACDT AWST NZST NZDT SAST EAT WAT CAT GST PKT',
)

export const wishPatterns = {
  no_more_contact:
    /\bunsubscribe\b|\b(?:stop|do not|don't|never) (?:e-?mail|mail|contact|writ|messag|bother)|\bopt[ -]?out\b|\bremove me\b|\babbestellen\b|\bkeine (?:weiteren )?(?:e-?mails|mails|nachrichten)\b|\b(?:nicht mehr|nie wieder) (?:an)?(?:schreiben|kontaktieren)\b|^\s*stopp?[.!]?\s*$/i,
  not_taking_part:
    /\b(?:cannot|can't|can not|won't|will not|unable to) (?:take part|attend|join|participate|make it|come)\b|\bi (?:have to |must )?decline\b|\bnehme nicht teil\b|\bnicht teilnehmen\b|\b(?:muss|möchte) (?:leider )?absagen\b|\bsage (?:leider )?ab\b|\bnicht dabei sein\b/i,
} as const
