import { expect, test } from 'vitest'
import { tokenOf, wayBack } from './way-back.ts'

test.each([
  ['/estoc?mercat=salt#x', '/estoc?mercat=salt#x'],
  ['/', '/'],
  ['//evil.example/x', '/'],
  ['/\\evil.example', '/'],
  ['https://evil.example', '/'],
  ['javascript:alert(1)', '/'],
  ['/entrada?torna=/entrada', '/'],
  ['', '/'],
  ['http://[', '/'],
])('after signing in, %s leads to %s', (text, path) => expect(wayBack(text)).toBe(path))

const TOKEN = 'abcdefghijklmnopqrstuvwxyzABCDEF'
test.each([
  [`http://127.0.0.1:3000/entrada#${TOKEN}`, TOKEN],
  [`  ${TOKEN}\n`, TOKEN],
  ['http://127.0.0.1:3000/entrada', null],
  ['', null],
  [`${TOKEN}x`, null],
])('the token of %s', (text, token) => expect(tokenOf(text)).toBe(token))
