export default /* sql */ `
-- The first four tables are of better-auth (packages/signin names them to it); what a user may do and see is ours.
create table km0.sign_in_user (
  id text primary key,
  name text not null,
  email text not null unique check (email = lower(email)),
  email_verified boolean not null default true,
  image text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  -- Whoever is added by anything but us may do little and see nothing.
  role text not null default 'dispatcher' check (role in ('dispatcher', 'analyst', 'administrator')),
  all_vans boolean not null default false,
  depots text[] not null default '{}',
  markets text[] not null default '{}',
  revoked_at_ms bigint,
  last_sign_in_at_ms bigint
);
create table km0.sign_in_session (
  id text primary key,
  user_id text not null references km0.sign_in_user (id) on delete cascade,
  token text not null unique,
  expires_at timestamptz not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  ip_address text,
  user_agent text,
  -- How it began: 'link' or 'password'.
  via text
);
create index sign_in_session_user on km0.sign_in_session (user_id);
create table km0.sign_in_account (
  id text primary key,
  user_id text not null references km0.sign_in_user (id) on delete cascade,
  account_id text not null,
  provider_id text not null,
  access_token text,
  refresh_token text,
  id_token text,
  access_token_expires_at timestamptz,
  refresh_token_expires_at timestamptz,
  scope text,
  password text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (provider_id, account_id)
);
create index sign_in_account_user on km0.sign_in_account (user_id);
create table km0.sign_in_verification (
  id text primary key,
  identifier text not null,
  value text not null,
  expires_at timestamptz not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index sign_in_verification_identifier on km0.sign_in_verification (identifier);
-- Signs cookies, unless KM0_AUTH_SECRET is set. One row.
create table km0.sign_in_secret (
  one boolean primary key default true check (one),
  secret text not null
);
-- Keys of wall screens and of programs. The key itself is nowhere.
create table km0.access_key (
  id bigint generated always as identity primary key,
  kind text not null check (kind in ('wall', 'token')),
  name text not null,
  sha256 bytea not null unique,
  hint text not null,
  all_vans boolean not null,
  depots text[] not null default '{}',
  markets text[] not null default '{}',
  created_by text not null,
  created_at_ms bigint not null,
  last_used_at_ms bigint,
  revoked_at_ms bigint
);
-- Who did what, when and from where.
create table km0.audit (
  id bigint generated always as identity primary key,
  at_ms bigint not null,
  actor_id text,
  actor_name text,
  action text not null,
  detail text not null,
  address text not null
);
create index audit_at on km0.audit (at_ms);
`
