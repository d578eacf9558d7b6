export function cacheRoot(): string
