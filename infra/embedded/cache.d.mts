export function cacheRoot(environment?: NodeJS.ProcessEnv): string
export function jarFolder(root: string, environment?: NodeJS.ProcessEnv): string
