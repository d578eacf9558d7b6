export default /* sql */ `
-- A key that sees pseudonyms of vans, and places on a grid.
alter table km0.access_key add column masked boolean not null default false;
`
