export { PASSWORD_MAX_CHARACTERS, PASSWORD_MIN_CHARACTERS } from './library.ts'
export { LINK_PATH, type SignInSettings, signInEnvironment, signInSettings } from './settings.ts'
export { type Entered, type FoundSession, type Origin, SignIn, type SignInOptions } from './sign-in.ts'
