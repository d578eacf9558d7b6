#!/usr/bin/env bash
# Proves `docker compose up` from a fresh clone of what is committed here: a van with credentials, a backfill, who is not let in, scaling, containers
# that are killed, down and up again. Needs git, a Docker engine with compose, and free ports (KM0_PANEL_PORT, KM0_MQTT_PORT).
# Deletes the volumes of the project km0-check at its beginning and end, and no others.
set -euo pipefail
export COMPOSE_PROJECT_NAME=km0-check KM0_PANEL_PORT=${KM0_PANEL_PORT:-13000} KM0_MQTT_PORT=${KM0_MQTT_PORT:-11883} KM0_VERSION=check
root=$(cd "$(dirname "$0")/.." && pwd)
clone=$(mktemp -d)
say() { printf '%4d s  %s\n' $SECONDS "$*"; }
finish() {
  local code=$?
  [ $code = 0 ] || docker compose ps -a --format '{{.Name}} {{.Status}}' || true
  docker compose down -v --timeout 20 >/dev/null 2>&1 || true
  rm -rf "$clone"
  exit $code
}
git clone -q --no-hardlinks "$root" "$clone/platform"
cd "$clone/platform"
trap finish EXIT
docker compose down -v >/dev/null 2>&1 || true
say "commit $(git rev-parse --short HEAD), $(docker compose version)"

docker compose up -d --build --wait >"$clone/up.log" 2>&1 || { tail -40 "$clone/up.log"; exit 1; }
say "docker compose up --build --wait: everything is healthy"
docker compose logs --no-log-prefix welcome | tail -2

# The panel's address is asked from inside, where Node is; a token is what a program has.
token=$(docker compose exec -T dashboard km0 user token --name check)
panel() { # PATH: the answer's text
  docker compose exec -T -e TOKEN="$token" dashboard node -e '
    fetch("http://127.0.0.1:9100" + process.argv[1], { headers: { authorization: "Bearer " + process.env.TOKEN } })
      .then(async (answer) => { process.stdout.write(await answer.text()); process.exit(answer.ok ? 0 : 1) }, () => process.exit(1))' "$1"
}
until_true() { # SECONDS WHAT COMMAND…: waits for it
  local limit=$((SECONDS + $1)) what=$2
  shift 2
  until "$@" >/dev/null 2>&1; do
    [ $SECONDS -lt $limit ] || { say "NOT: $what"; exit 1; }
    sleep 1
  done
  say "$what"
}
publish() { # VAN NAME PASSWORD: on the published port, as a van would
  docker run --rm --network host --entrypoint mosquitto_pub eclipse-mosquitto:2 -h 127.0.0.1 -p "$KM0_MQTT_PORT" -q 1 -u "$2" -P "$3" \
    -t "km0/repartidors/$1/posicio" -m "{\"repartidor\":\"$1\",\"lat\":41.9794,\"lon\":2.8214,\"data_ms\":$(date +%s%3N)}"
}
shows() { panel /api/panel | grep -q "\"$1\""; }
refused() { ! publish "$@"; }

password=$(docker compose run --rm -T km0 van add check-1 2>/dev/null | sed -n 's/^password *//p')
until_true 20 "a van with a new account is let in" publish check-1 check-1 "$password"
until_true 60 "it is in the panel's interface" shows check-1
until_true 5 "a wrong password is not let in" refused check-1 check-1 wrong
publish check-other check-1 "$password"
publish check-1 check-1 "$password"
sleep 15
! shows check-other || { say "NOT: a van cannot publish as another one"; exit 1; }
say "a van cannot publish as another one"
new=$(docker compose run --rm -T km0 van rotate check-1 2>/dev/null | sed -n 's/^password *//p')
until_true 20 "a new password holds" publish check-1 check-1 "$new"
until_true 20 "the old one does not" refused check-1 check-1 "$password"

backfill() { docker compose exec -T dashboard km0 backfill run --day "$(TZ=Europe/Madrid date +%F)"; }
until_true 120 "a backfill runs" backfill

docker compose up -d --wait --no-recreate --scale stream-positions=3 --scale bridge=2 --scale batch=4 >"$clone/up.log" 2>&1 || { tail -40 "$clone/up.log"; exit 1; }
say "stream-positions=3 bridge=2 batch=4: everything is healthy"
well() { [ "$(docker compose ps --format '{{.Health}}' | grep -cv '^healthy$\|^$')" = 0 ]; }
for service in bridge stream-positions stream-serving stream-lake stream-stock-shuffle stream-stock-windows batch dashboard mqtt redis postgres kafka; do
  id=$(docker compose ps -q "$service" | head -1)
  # By the process: an engine does not start again what it was itself told to kill.
  kill -9 "$(docker inspect -f '{{.State.Pid}}' "$id")"
  sleep 2
  until_true 180 "$service was killed and is well again" well
done
publish check-1 check-1 "$new"
docker compose down --timeout 20 >/dev/null 2>&1
docker compose up -d --wait >"$clone/up.log" 2>&1 || { tail -40 "$clone/up.log"; exit 1; }
until_true 60 "after down and up the van, its account and the token are still there" shows check-1
publish check-1 check-1 "$new"
say "done"
