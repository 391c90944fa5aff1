import fc from 'fast-check'
import { textOfHtml } from './html-text.ts'
import { ownWords } from './own-words.ts'

const QUOTED = '> Hello Grace,\n> when can you meet?\n'

const QUOTATIONS: readonly (readonly [string, string])[] = [
  ['Gmail in English', `On Tue, Mar 17, 2026 at 10:00 AM Ada Lovelace <ada@x.example> wrote:\n\n${QUOTED}`],
  [
    'Gmail, broken over two lines',
    `On Tue, Mar 17, 2026 at 10:00 AM Ada Lovelace <\nada@x.example> wrote:\n\n${QUOTED}`,
  ],
  [
    'Gmail in German',
    `Am Di., 17. März 2026 um 10:00 Uhr schrieb Ada Lovelace <ada@x.example>:\n\n${QUOTED}`,
  ],
  ['Gmail in French', `Le mar. 17 mars 2026 à 10:00, Ada Lovelace <ada@x.example> a écrit :\n\n${QUOTED}`],
  ['Thunderbird in German', `Am 17.03.26 um 10:00 schrieb Ada Lovelace:\n${QUOTED}`],
  ['an older German program', `Ada Lovelace <ada@x.example> schrieb am 17.03.2026 um 10:00:\n${QUOTED}`],
  ['Apple Mail', '> On 17 Mar 2026, at 10:00, Ada <ada@x.example> wrote:\n> \n> Hello Grace'],
  [
    'an attribution over words that are not marked',
    'On 17 Mar 2026, at 10:00, Ada wrote:\n\nHello Grace\nWhen?',
  ],
  [
    'Outlook in English',
    '________________________________\nFrom: Ada <ada@x.example>\nSent: Tuesday, March 17, 2026 10:00 AM\nTo: Grace\nSubject: Meeting\n\nHello',
  ],
  [
    'Outlook in German',
    'Von: Ada <ada@x.example>\nGesendet: Dienstag, 17. März 2026 10:00\nAn: Grace\nBetreff: Treffen\n\nHallo',
  ],
  [
    'Outlook in French',
    'De : Ada <ada@x.example>\nEnvoyé : mardi 17 mars 2026 10:00\nÀ : Grace\nObjet : Rendez-vous\n\nBonjour',
  ],
  [
    'Outlook for the Mac',
    '*From: *Ada <ada@x.example>\n*Date: *Tuesday, 17 March 2026\n*To: *Grace\n*Subject: *M\n\nHi',
  ],
  ['an original message', '-----Original Message-----\nFrom: Ada\nHello'],
  ['an original message in German', '-----Ursprüngliche Nachricht-----\nVon: Ada\nHallo'],
  ['a forwarded mail', '---------- Forwarded message ---------\nFrom: X <x@y.example>\nDate: z\n\nbody'],
  ['a forwarded mail of Apple', 'Begin forwarded message:\n\nFrom: X\nbody'],
  ['a signature', '-- \nGrace Hopper\n+1 555 0100, Tue 9-17'],
  ['a closing and a name', 'Best regards,\nGrace Hopper\nRear Admiral\n+1 555 0100'],
  ['a German closing', 'Mit freundlichen Grüßen\nGrace'],
  ['a short German closing', 'VG\nGrace'],
  ['a French closing', 'Bien cordialement,\nGrace'],
  ['a telephone', 'Sent from my iPhone'],
  ['a German telephone', 'Von meinem iPhone gesendet'],
  ['an advertisement', 'Get Outlook for iOS<https://aka.ms/o0ukef>'],
]

describe('own words', () => {
  it.each(QUOTATIONS)('end where %s begins', (_name, below) => {
    const words = 'Tuesday works,\n\nand Wednesday after 14:00.'
    expect(ownWords(`${words}\n\n${below}`)).toBe(words)
    expect(ownWords(`${words}\r\n\r\n${below.replaceAll('\n', '\r\n')}`)).toBe(words)
    expect(ownWords(below)).toBe('')
  })

  it('are found between quoted lines and below them', () => {
    expect(ownWords('> When?\nTuesday at 14:00\n> Where?\nonline')).toBe('Tuesday at 14:00\nonline')
    const below = `On Tue, Mar 17, 2026 at 10:00 AM Ada <ada@x.example> wrote:\n${QUOTED}\nTuesday works.`
    expect(ownWords(below)).toBe('Tuesday works.')
  })

  it.each([
    'On Tuesday I can do 14:00.\nOn Wednesday all day.',
    'Am Dienstag um 14:00.\nAm 17.3. schrieb ich schon:\nDienstag geht.',
    'On 17 March I wrote:\nTuesday works.',
    'From: 14:00 to 16:00\nTo be sure, ask Bob.',
    'From 14:00\nto 16:00',
    '- Tuesday 14:00\n- Wednesday 15:00',
    'Best time: Tuesday\nWorst: Friday',
    'Thanks!\nTuesday 14:00 works.',
    'Tuesday.\n\nBest regards,\nGrace\n\nP.S. Wednesday would be better.',
    'Le 17 mars à 14:00, ça me va :\nmerci',
  ])('that only look like a quotation stay: %j', (words) => {
    expect(ownWords(words)).toBe(words)
  })

  it('of any text are lines of it, and nothing is thrown', () => {
    const line = fc.oneof(
      fc.string(),
      fc.constantFrom(
        '',
        '> x',
        '--',
        'On 1 A wrote:',
        'From: x',
        'To: y',
        'Date: z',
        'Best regards',
        '____',
      ),
    )
    fc.assert(
      fc.property(fc.array(line), (lines) => {
        const text = lines.join('\n')
        const squeezed = text.replace(/\s/g, '')
        for (const own of ownWords(text).split('\n')) {
          expect(squeezed).toContain(own.replace(/[\u200b-\u200f\u2060\ufeff\u00ad]/g, '').replace(/\s/g, ''))
        }
      }),
    )
  })

  it('of hostile text are found at once', () => {
    const shapes = [
      '\n',
      ' \n',
      'On ',
      'On <',
      'On 1\n',
      'From: x\n',
      '> ',
      '-',
      'Am 1 schrieb ',
      '<a@b> ',
      'Gruß\n',
    ]
    for (const shape of shapes) {
      const startedMs = performance.now()
      ownWords(shape.repeat(100_000))
      // Far above what it takes, far below what an expression takes that runs away.
      expect(performance.now() - startedMs).toBeLessThan(2_000)
    }
  })
})

describe('the text of an HTML mail', () => {
  it('keeps lines and paragraphs, and shows nothing that is not shown', () => {
    const html =
      '<html><head><title>t</title><style>p { x }</style></head><body><p>Tuesday &amp; <b>Wed</b>nesday,</p>' +
      '<div>after<br>14:00&nbsp;Uhr</div><ul><li>online</li><li>here</li></ul><img alt="x"><script>y</script></body>'
    expect(textOfHtml(html)).toBe('Tuesday & Wednesday,\n\nafter\n14:00\u00a0Uhr\n\nonline\n\nhere')
  })

  it.each([
    '<div class="gmail_quote gmail_quote_container"><div class="gmail_attr">On … wrote:</div><blockquote>Hi</blockquote></div>',
    '<div class="moz-cite-prefix">On … wrote:</div><blockquote type="cite">Hi<p>there</blockquote>',
    '<div id="appendonsend"></div><hr><div id="divRplyFwdMsg">From: Ada</div><div>Hi</div>',
    '<div class="gmail_signature">Grace<br>+1</div>',
  ])('is without what is marked as quoted: %s', (quoted) => {
    expect(textOfHtml(`<div dir="ltr">Tuesday works</div>${quoted}`)).toBe('Tuesday works')
  })

  it('is what is quoted where there is nothing else, for the answer may stand within', () => {
    expect(textOfHtml('<blockquote>When?<p>Tuesday</p></blockquote>')).toBe('When?\n\nTuesday')
  })

  it('of hostile HTML is found at once, and nothing is thrown', () => {
    for (const shape of [
      '<div>',
      '<b></x>',
      '<',
      '<!--',
      '<ul><li>',
      '<table><tr><td>',
      '&amp;',
      '<p>x',
      '<a ',
    ]) {
      const startedMs = performance.now()
      textOfHtml(shape.repeat(200_000))
      expect(performance.now() - startedMs).toBeLessThan(2_000)
    }
    fc.assert(fc.property(fc.string(), (html) => expect(typeof textOfHtml(html)).toBe('string')))
  })
})
