import tseslint from 'typescript-eslint'

const rawSql = [
  {
    selector: 'TaggedTemplateExpression[tag.property.name=/^\\$(queryRaw|executeRaw)/]',
    message: 'SQL lives in sql.ts, store.ts and the folders of these names.',
  },
  {
    selector: 'CallExpression[callee.property.name=/^\\$(queryRawUnsafe|executeRawUnsafe)$/]',
    message: 'SQL lives in sql.ts, store.ts and the folders of these names.',
  },
]
const clockRead = [
  {
    selector: 'NewExpression[callee.name="Date"][arguments.length=0]',
    message: 'A core is given the time; it never reads a clock.',
  },
  {
    selector: 'CallExpression[callee.object.name="Date"][callee.property.name="now"]',
    message: 'A core is given the time; it never reads a clock.',
  },
]

export default tseslint.config(
  {
    ignores: [
      '**/dist',
      '**/generated',
      '**/node_modules',
      '.data',
      '**/*.cjs',
      '**/*.mjs',
      '*.config.js',
      '*.config.ts',
    ],
  },
  {
    files: ['**/*.ts'],
    extends: [tseslint.configs.strictTypeChecked],
    languageOptions: { parserOptions: { project: './tsconfig.json', tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { considerDefaultExhaustiveForUnions: false },
      ],
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      '@typescript-eslint/no-unused-vars': [
        'error',
        { argsIgnorePattern: '^_', varsIgnorePattern: '^_', ignoreRestSiblings: true },
      ],
      '@typescript-eslint/no-confusing-void-expression': [
        'error',
        { ignoreArrowShorthand: true, ignoreVoidReturningFunctions: true },
      ],
      // A caller names the row type of its statement; there is nothing to infer it from.
      '@typescript-eslint/no-unnecessary-type-parameters': 'off',
      '@typescript-eslint/consistent-type-imports': 'error',
      'max-lines-per-function': ['error', { max: 70, skipBlankLines: true, skipComments: true }],
      'no-restricted-syntax': ['error', ...rawSql],
    },
  },
  // Cores decide; they are told what time it is.
  {
    files: ['packages/{scheduling,clinic,freight,time,outbox}/src/**/*.ts'],
    ignores: ['**/*.test.ts', '**/*.testing.ts'],
    rules: { 'no-restricted-syntax': ['error', ...rawSql, ...clockRead] },
  },
  {
    files: ['**/sql.ts', '**/sql/*.ts', '**/store.ts', '**/store/*.ts'],
    rules: { 'no-restricted-syntax': ['error', ...clockRead] },
  },
  // A test file is one long describe block, and reads rows to see what happened.
  { files: ['**/*.test.ts'], rules: { 'max-lines-per-function': 'off', 'no-restricted-syntax': 'off' } },
)
