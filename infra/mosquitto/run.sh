#!/bin/sh
# Runs mosquitto, and has it read the accounts again when they change: `km0 van` runs in another container and cannot send it a signal.
state() { cksum /mosquitto/accounts/passwords /mosquitto/accounts/acl; }

/usr/sbin/mosquitto -c /mosquitto/config/mosquitto.conf &
broker=$!
trap 'kill -TERM "$broker"' TERM INT
before=$(state)
while kill -0 "$broker" 2>/dev/null; do
  sleep 1 &
  wait $!
  now=$(state)
  if [ "$now" != "$before" ]; then
    before=$now
    kill -HUP "$broker"
  fi
done
wait "$broker"
