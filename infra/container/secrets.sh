# Read by start and km0. A variable X_FILE names a file that holds X, so that no secret stands in a compose file or in `docker inspect`.
for name in DATABASE_URL MQTT_URL REDIS_URL KM0_AUTH_SECRET KM0_LAKE_S3_SECRET KM0_CHECKPOINT_S3_SECRET; do
  eval "file=\${${name}_FILE:-}"
  if [ -n "$file" ]; then
    value=$(cat "$file")
    export "$name=$value"
    unset "${name}_FILE"
  fi
done
