import type { LakeTrouble } from '@km0/contracts/van-day-panel'
import type { ReplayQuery, VanDayQuery } from './lake-reads.ts'

/** What the panel says to the process that reads the lake. */
export type ToReader =
  | { readonly id: number; readonly kind: 'vanDay'; readonly query: VanDayQuery }
  | { readonly id: number; readonly kind: 'replay'; readonly query: ReplayQuery }
  | { readonly id: number; readonly kind: 'cancel' }

/** What it says back. `started`: the lake is open and the read has begun; from here its time counts. */
export type FromReader =
  | { readonly id: number; readonly kind: 'started' }
  | { readonly id: number; readonly kind: 'answer'; readonly bytes: Uint8Array }
  | { readonly id: number; readonly kind: 'trouble'; readonly trouble: LakeTrouble }
  | { readonly id: number; readonly kind: 'failed'; readonly message: string }
