export * from './directory-store.ts'
export * from './epoch.ts'
export * from './store.ts'
