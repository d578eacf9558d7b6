export * from './pieces.ts'
export * from './session-hours.ts'
