#!/usr/bin/env bash
# Proves `docker compose up` from a fresh clone of what is committed here: a van with credentials, a backfill, who is not let in, scaling, containers
# that are killed, down and up again. Needs git, a Docker engine with compose, root (it kills containers' processes) and two free ports
# (KM0_PANEL_PORT, KM0_MQTT_PORT). Deletes the volumes of the project km0-check at its beginning and end, and no others.
set -euo pipefail
export COMPOSE_PROJECT_NAME=km0-check KM0_PANEL_PORT=${KM0_PANEL_PORT:-13000} KM0_MQTT_PORT=${KM0_MQTT_PORT:-11883} KM0_VERSION=check
export COMPOSE_PROGRESS=plain
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
say "commit $(git rev-parse --short HEAD), $(docker compose version), load $(cut -d' ' -f1 /proc/loadavg)"

up() { docker compose up --wait "$@" >"$clone/up.log" 2>&1 || { tail -40 "$clone/up.log"; exit 1; }; }
up --build
say "docker compose up --build --wait: everything is healthy"
docker images --format '      {{.Repository}}:{{.Tag}} {{.Size}}' | grep ':check ' | sort -u
docker compose logs --no-log-prefix welcome | tail -2 | sed 's/#[A-Za-z0-9_-]*/#…/; s/^/      /'

within_until() { # SECONDS WHAT COMMAND…: waits until it succeeds
  local limit=$((SECONDS + $1)) what=$2
  shift 2
  until "$@" >/dev/null 2>&1; do
    [ $SECONDS -lt $limit ] || { say "NOT: $what"; exit 1; }
    sleep 1
  done
  say "$what"
}
km0() { docker compose exec -T dashboard km0 "$@"; }
van() { docker compose run --rm -T km0 van "$@" 2>/dev/null; }
password_of() { sed -n 's/^password *//p'; }

# The panel is asked through its published port, as a program would.
token=$(km0 user token --name check)
panel() { curl -sf -m 10 -H "authorization: Bearer $token" "http://127.0.0.1:$KM0_PANEL_PORT$1"; }
# Not grep -q: it would end before curl has written everything, which is a failure of the pipe.
has() { panel /api/panel | grep -F "$1" >/dev/null; }
# VAN NAME PASSWORD [MS [LATITUDE]]: on the published port, as a van would.
publish() {
  docker run --rm --network host --entrypoint mosquitto_pub eclipse-mosquitto:2 -h 127.0.0.1 -p "$KM0_MQTT_PORT" -q 1 -u "$2" -P "$3" \
    -t "km0/repartidors/$1/posicio" -m "{\"repartidor\":\"$1\",\"lat\":${5:-41.9794},\"lon\":2.8214,\"data_ms\":${4:-$(date +%s%3N)}}"
}
refused() { ! publish "$@"; }
started() { docker inspect -f '{{.State.StartedAt}}' "$(docker compose ps -q mqtt)"; }

broker=$(started)
password=$(van add check-1 | password_of)
within_until 30 "a van with a new account is let in" publish check-1 check-1 "$password"
within_until 90 "it is in the panel's interface" has '"check-1"'
within_until 10 "a wrong password is not let in" refused check-1 check-1 wrong
within_until 10 "nor is a van without an account" refused check-2 check-2 "$password"
publish check-other check-1 "$password"
# What came after it is there, so it would be there too.
publish check-1 check-1 "$password" "" 41.9876
within_until 90 "a newer position is in the panel's interface" has 41.9876
sleep 10
if has '"check-other"'; then say "NOT: a van cannot publish as another one" && exit 1; fi
say "a van cannot publish as another one"
new=$(van rotate check-1 | password_of)
within_until 20 "a new password holds" publish check-1 check-1 "$new"
within_until 20 "the old one does not" refused check-1 check-1 "$password"
gone=$(van add check-gone | password_of)
within_until 20 "a second van is let in" publish check-gone check-gone "$gone"
van remove check-gone >/dev/null
within_until 20 "an account that was removed is not" refused check-gone check-gone "$gone"
[ "$broker" = "$(started)" ] || { say "NOT: the broker was not restarted"; exit 1; }
say "the broker was not restarted"

# Points of two hours ago are late: live leaves them out, a backfill brings them in.
hour=$((($(date +%s) / 3600 - 2) * 3600))
for minute in 1 2 3; do publish check-1 check-1 "$new" $(((hour + minute * 60) * 1000)) "41.97$minute"; done
utc() { date -u -d "@$1" +%FT%TZ; }
backfill() { km0 backfill run --from "$(utc $hour)" --to "$(utc $((hour + 3600)))" --van check-1 >"$clone/backfill" && grep 'km0 backfill publish' "$clone/backfill"; }
within_until 240 "a backfill of an hour finds the van's late points" backfill
version=$(sed -n 's/.*km0 backfill publish \([0-9]*\).*/\1/p' "$clone/backfill")
km0 backfill publish "$version" --reason check >/dev/null
say "version $version is published"

up --no-recreate --scale stream-positions=3 --scale bridge=2 --scale batch=4
say "stream-positions=3 bridge=2 batch=4: everything is healthy"
metrics() { # SERVICE PATTERN: lines of /metrics of each of its containers
  for id in $(docker compose ps -q "$1"); do
    printf '      %s: ' "$(docker inspect -f '{{.Name}}' "$id" | cut -c2-)"
    docker exec "$id" bash -c 'exec 3<>/dev/tcp/127.0.0.1/9100; printf "GET /metrics HTTP/1.0\r\n\r\n" >&3; cat <&3' | grep -E "$2" | tr '\n' ' ' || true
    echo
  done
}
active() { [ "$(metrics bridge '^km0_bridge_active' | grep -c '} 1')" = 1 ]; }
shared() { [ "$(metrics stream-positions '^km0_stream_keys' | grep -c 'partition')" = 3 ]; }
within_until 60 "one bridge of two is active" active
within_until 120 "three share the partitions of positions" shared
metrics bridge '^km0_bridge_active'
metrics stream-positions '^km0_stream_keys'

well() { [ "$(docker compose ps -a --format '{{.Service}} {{.State}} {{.Health}}' | grep -v '^setup ' | grep -vc ' running healthy$')" = 0 ]; }
for service in bridge stream-positions stream-serving stream-lake stream-stock-shuffle stream-stock-windows batch dashboard mqtt redis postgres kafka; do
  id=$(docker compose ps -q "$service" | head -1)
  # By its process: an engine does not start again what it was itself told to kill.
  kill -9 "$(docker inspect -f '{{.State.Pid}}' "$id")"
  sleep 2
  within_until 240 "$service was killed and all is well again" well
done
within_until 60 "one bridge of two is active again" active
within_until 120 "three share the partitions again" shared
within_until 30 "the van is let in" publish check-1 check-1 "$new" "" 41.9888
within_until 120 "and seen" has 41.9888

served() { km0 backfill list | grep -E "^ *$version .* yes "; }
docker compose down --timeout 30 >/dev/null 2>&1
say "down"
up
say "up: everything is healthy"
within_until 60 "van and token are still there" has 41.9888
within_until 30 "so is its account" publish check-1 check-1 "$new" "" 41.9899
within_until 90 "and what it sends is seen" has 41.9899
within_until 30 "so is the version that was published" served
say "done, load $(cut -d' ' -f1 /proc/loadavg)"
