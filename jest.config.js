export default {
  testEnvironment: 'node',
  extensionsToTreatAsEsm: ['.ts'],
  testMatch: ['<rootDir>/{apps,examples,packages,scripts}/**/*.test.ts'],
  testPathIgnorePatterns: ['/node_modules/', '/dist/', ...(process.env.SLOW ? [] : ['\\.slow\\.test\\.ts$'])],
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      {
        jsc: { target: 'es2022', parser: { syntax: 'typescript' } },
        module: { type: 'es6' },
        sourceMaps: 'inline',
      },
    ],
  },
  globalSetup: '<rootDir>/scripts/jest-global-setup.mjs',
  globalTeardown: '<rootDir>/scripts/jest-global-teardown.mjs',
  reporters: ['default', '<rootDir>/scripts/closing-line-reporter.mjs'],
  // The tests and their database share the machine, and neither keeps a core busy by itself.
  maxWorkers: '100%',
  testTimeout: 60_000,
}
