export { createPositionsHost } from './positions/positions-host.ts'
