/** What the program and its worker processes say to each other. Both are of one build. */
export type ToWorker = { readonly id: number; readonly kind: string; readonly payload: unknown }

export type FromWorker =
  | { readonly id: number; readonly type: 'share'; readonly share: number }
  | { readonly id: number; readonly type: 'result'; readonly value: unknown }
  /** `isRefused`: the same again fails again. */
  | { readonly id: number; readonly type: 'error'; readonly message: string; readonly isRefused: boolean }
