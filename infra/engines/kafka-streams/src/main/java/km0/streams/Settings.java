package km0.streams;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.Map;
import org.graalvm.polyglot.Source;

/** Settings of one instance; the environment's names stand in docs/engines.md. {@code stockSources} and {@code shuffleTargets} come from the broker. */
record Settings(Source bundle, String applicationId, long epoch, String positionsJson, String stockJson, Long outageAfterMs, Duration snapshotEvery,
    String seedFolder, long stockIdleMs, int stockSources, int shuffleTargets) {
  private static final String SHUFFLE = "barreja";

  static Settings of(Map<String, String> environment, String applicationId, int stockSources, int shuffleTargets) {
    return new Settings(
        bundleOf(environment.getOrDefault("KM0_ENGINE_BUNDLE", "infra/engines/dist/km0-engine.js")),
        applicationId,
        number(environment, "KM0_ENGINE_EPOCH", 0),
        environment.get("KM0_ENGINE_POSITIONS"),
        environment.get("KM0_ENGINE_STOCK"),
        environment.containsKey("KM0_OUTAGE_AFTER_MS") ? number(environment, "KM0_OUTAGE_AFTER_MS", 0) : null,
        Duration.ofMillis(number(environment, "KM0_ENGINE_SNAPSHOT_MS", 5_000)),
        environment.get("KM0_ENGINE_SEED"),
        number(environment, "KM0_STOCK_IDLE_MS", 10_000),
        stockSources,
        shuffleTargets);
  }

  /** What Kafka Streams makes of it is {@link #shuffleTopic}. */
  String shuffleName() {
    return SHUFFLE;
  }

  String shuffleTopic() {
    return applicationId + "-" + SHUFFLE + "-repartition";
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
