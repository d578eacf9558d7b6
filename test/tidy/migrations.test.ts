import { MIGRATIONS } from '@km0/serving/migrations'
import { describe, expect, it } from 'vitest'

/** Migrations up to this one were there before the rule. */
const BEFORE_THE_RULE = 15

/** What the version before may still use: docs/upgrades.md. */
const TAKES_AWAY =
  /\b(drop\s+(table|column|view|function|trigger|type|schema)|rename\s+(to|column|constraint)|alter\s+(column\s+)?\w+\s+(set\s+data\s+)?type|set\s+not\s+null|truncate)\b|\badd\s+column\s+(?!.*\bdefault\b)[^,;]*\bnot\s+null\b/i
const UNUSED = /--\s*unused since \d+\.\d+\.\d+/

/** Statements that take something away and do not say since when nothing uses it. */
function takingAway(sql: string): string[] {
  return sql.split(';').filter((statement) => TAKES_AWAY.test(statement) && !UNUSED.test(statement))
}

describe('migrations', () => {
  it('are numbered without a hole', () => {
    expect(MIGRATIONS.map(({ number }) => number)).toEqual(MIGRATIONS.map((_, index) => index + 1))
  })

  it('take nothing away that the version before uses', () => {
    const wrong = MIGRATIONS.filter(({ number }) => number > BEFORE_THE_RULE).flatMap(({ number, sql }) =>
      takingAway(sql).map((statement) => `${number}: ${statement.trim()}`),
    )
    expect(wrong).toEqual([])
  })

  it.each([
    'alter table km0.van drop column plate',
    'alter table km0.van rename to vans',
    'alter table km0.van alter column plate type integer',
    'alter table km0.van alter plate set not null',
    'alter table km0.van add column colour text not null',
    'drop table km0.van',
  ])('would be refused: %s', (sql) => {
    expect(takingAway(sql)).toEqual([sql])
    expect(takingAway(`-- unused since 0.2.0\n${sql}`)).toEqual([])
  })

  it.each([
    'alter table km0.van add column colour text',
    "alter table km0.van add column colour text not null default ''",
    'drop index km0.a',
  ])('may: %s', (sql) => {
    expect(takingAway(sql)).toEqual([])
  })
})
