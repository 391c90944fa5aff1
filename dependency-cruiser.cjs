/** The import directions of ARCHITECTURE.md, as a check. Each rule's comment says why it stands. */
const DOMAINS = 'scheduling|clinic|freight'
const TESTS = '\\.(test|testing)\\.ts$|^packages/testing/'

module.exports = {
  forbidden: [
    {
      name: 'no-cycles',
      severity: 'error',
      comment: 'A cycle has no first file to read.',
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    },
    {
      name: 'api-never-calls-out',
      severity: 'error',
      comment:
        'The API only commits state and outbox rows: no path from it, however long, reaches a provider adapter, a handler or the engine.',
      from: { path: '^apps/api/src/', pathNot: TESTS },
      to: {
        path: [
          // Reading a mail that came in calls nobody.
          '^packages/providers/src/(?!call\\.ts$|calendar/calendar\\.ts$|email/(?!smtp)|webhook/address\\.ts$)',
          '/handlers(\\.ts$|/)',
          '^packages/outbox/src/(engine|loops|pipeline|rescue|reconcile|settle)\\.ts$',
        ],
        reachable: true,
      },
    },
    {
      name: 'domains-are-strangers',
      severity: 'error',
      comment: 'One domain never imports another: what they share belongs below them.',
      from: { path: `^packages/(${DOMAINS})/` },
      to: { path: `^packages/(${DOMAINS})/`, pathNot: '^packages/$1/' },
    },
    {
      name: 'core-is-pure',
      severity: 'error',
      comment:
        'The rules of a domain reach no I/O, however long the path. The calendar port holds types only and is allowed.',
      from: {
        path: `^packages/(?:${DOMAINS})/src/(?!handlers|store|commands|cancellation|rescheduling|participation|explanation|gathering|repairing|repairs|replies|inbound|exceptions|faults|index|integrations|references|list|view|version|trace|under-way)[^/]+\\.ts$`,
        pathNot: TESTS,
      },
      to: {
        path: [
          '/(handlers|store|commands|sql)\\.ts$',
          '^packages/[^/]+/src/(?:store|sql|handlers)/',
          'node_modules/(express|@prisma|prisma|winston|prom-client|pg)/',
          '^packages/platform/',
          '^packages/providers/src/(?!call\\.ts$|calendar/calendar\\.ts$)',
          '^(node:)?(fs|http|https|net|child_process)',
        ],
        reachable: true,
      },
    },
    {
      name: 'outbox-core-is-pure',
      severity: 'error',
      comment: 'A domain core leans on the pure entry of the engine, so that entry reaches no I/O either.',
      from: { path: '^packages/outbox/src/(index|action|outcome|retry|states)\\.ts$' },
      to: {
        path: [
          '^packages/(platform|providers)/',
          'node_modules/pg/',
          '^(node:)?(fs|http|https|net|child_process)',
        ],
        reachable: true,
      },
    },
    {
      name: 'enqueue-needs-only-a-connection',
      severity: 'error',
      comment:
        'An application enqueues in its own transaction, through its own driver: this entry brings neither a driver nor Prisma.',
      from: { path: '^packages/outbox/src/enqueue\\.ts$' },
      to: {
        path: [
          '^packages/(platform|providers)/',
          'node_modules/(pg|@prisma|prisma)/',
          '^packages/outbox/src/engine\\.ts$',
        ],
        reachable: true,
      },
    },
    {
      name: 'engine-knows-no-domain',
      severity: 'error',
      comment: 'The lower layers know neither a business nor a process.',
      from: { path: '^packages/(outbox|platform|providers|time)/', pathNot: TESTS },
      to: { path: `^(packages/(${DOMAINS})|apps)/` },
    },
    {
      name: 'providers-know-no-outbox',
      severity: 'error',
      comment: 'An adapter answers; what the answer means for a row is decided above it.',
      from: { path: '^packages/providers/', pathNot: TESTS },
      to: { path: '^packages/(outbox|platform)/' },
    },
    {
      name: 'simulator-stands-outside',
      severity: 'error',
      comment:
        'The simulated world shares no code with the product: a shared mistake would agree with itself.',
      from: { path: '^apps/simulator/', pathNot: TESTS },
      to: { path: '^packages/' },
    },
    {
      name: 'tests-only-from-tests',
      severity: 'error',
      comment: 'Nothing that ships leans on a test.',
      from: { pathNot: TESTS },
      to: { path: TESTS },
    },
    {
      name: 'no-orphans',
      severity: 'error',
      comment: 'A file nobody imports is a file nobody needs.',
      from: {
        orphan: true,
        pathNot: ['\\.(test|testing|config|d)\\.[cm]?[jt]s$', '/main\\.ts$', '/host\\.ts$', '/generated/'],
      },
      to: {},
    },
  ],
  options: {
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    doNotFollow: { path: ['node_modules', '/generated/'] },
    exclude: { path: '/dist/' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'require', 'node', 'default', 'types'],
      extensions: ['.ts', '.js'],
    },
  },
}
