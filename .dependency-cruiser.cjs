/** Cycles and misplaced arrows between rooms. The table of allowed imports is in test/tidy/rooms.ts; this finds what a table cannot: cycles. */
module.exports = {
  forbidden: [
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } } },
    {
      name: 'no-tests-in-products',
      comment: 'A program must not need what only tests have.',
      severity: 'error',
      from: { path: '^(apps|packages/(?!testkit))', pathNot: '\\.test\\.ts$' },
      to: { path: '^(packages/testkit|test)/' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '(^|/)(dist|\\.next|\\.generated)/' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.base.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'require', 'node', 'default'],
      extensions: ['.ts', '.tsx', '.js', '.mjs', '.json'],
    },
  },
}
