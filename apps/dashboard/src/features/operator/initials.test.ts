import { expect, test } from 'vitest'
import { initials } from './initials.ts'

test.each([
  ['Marta Puig', 'MP'],
  ['núria', 'N'],
  ['  Anna  Maria Sala ', 'AS'],
  ['😀 Pons', '😀P'],
  ['', ''],
])('initials of %s are %s', (name, letters) => expect(initials(name)).toBe(letters))
