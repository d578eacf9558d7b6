package km0.streams;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.Map;
import org.graalvm.polyglot.Source;

/** Settings of one instance; the environment's names stand in docs/engines.md. */
record Settings(Source bundle, long epoch, String positionsJson, Long outageAfterMs, Duration snapshotEvery) {

  static Settings of(Map<String, String> environment) {
    return new Settings(
        bundleOf(environment.getOrDefault("KM0_ENGINE_BUNDLE", "infra/engines/dist/km0-engine.js")),
        number(environment, "KM0_ENGINE_EPOCH", 0),
        environment.get("KM0_ENGINE_POSITIONS"),
        environment.containsKey("KM0_OUTAGE_AFTER_MS") ? number(environment, "KM0_OUTAGE_AFTER_MS", 0) : null,
        Duration.ofMillis(number(environment, "KM0_ENGINE_SNAPSHOT_MS", 5_000)));
  }

  static Source bundleOf(String file) {
    try {
      return Source.newBuilder("js", new File(file)).build();
    } catch (IOException e) {
      throw new UncheckedIOException("the bundle is missing: pnpm build:engine", e);
    }
  }

  static long number(Map<String, String> environment, String name, long fallback) {
    String text = environment.get(name);
    return text == null || text.isEmpty() ? fallback : Long.parseLong(text);
  }
}
