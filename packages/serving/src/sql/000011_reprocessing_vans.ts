export default /* sql */ `
-- Vans that a reprocessing has rows of, whether an hour of theirs is complete yet or not.
alter table km0.reprocessing add column vans text[] not null default '{}';
`
