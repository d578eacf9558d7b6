package cat.km0.flink;

import java.io.Serializable;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeMap;
import km0.kafka.KafkaConnection;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.connector.base.DeliveryGuarantee;

/** The job's words, {@code name=value} each; README.md lists them. Nothing of the cluster (rest.*, taskmanager.*) is set by a job. */
final class JobSettings implements Serializable {
  private static final long serialVersionUID = 1;
  private static final String KAFKA = "kafka.";
  private static final Map<String, String> COMMON =
      Map.of(
          "brokers", "",
          "epoch", "0",
          "settings", "",
          "delivery", "at-least-once",
          "transaction-timeout-ms", "600000",
          "checkpoint-ms", "1000",
          "checkpoints", "",
          "max-parallelism", "128",
          "until-end", "false");
  private static final Map<String, String> POSITIONS =
      Map.of(
          "topic", "repartiment.posicions",
          "group", "km0-flink-positions",
          "transaction-prefix", "km0-flink",
          "result-topics", "repartiment.panell,repartiment.viu,repartiment.tardans,repartiment.rebutjats,repartiment.marques",
          "newest-only", "repartiment.viu",
          "outage-after-ms", "");
  private static final Map<String, String> STOCK =
      Map.of(
          "topic", "comandes.esdeveniments",
          "group", "km0-flink-stock",
          "transaction-prefix", "km0-flink-stock",
          "result-topics",
              "inventari.alertes,inventari.viu,inventari.episodis,inventari.tardans,inventari.rebutjats,inventari.marques",
          "like-topic", "inventari.alertes",
          "idle-ms", "10000");

  private final TreeMap<String, String> defaults;
  private final TreeMap<String, String> given = new TreeMap<>();
  private final TreeMap<String, String> client = new TreeMap<>();

  static JobSettings positions(String[] words, Map<String, String> environment) {
    return new JobSettings(POSITIONS, words, environment);
  }

  static JobSettings stock(String[] words, Map<String, String> environment) {
    return new JobSettings(STOCK, words, environment);
  }

  /** Throws when a word is unknown, a needed one is missing, or Kafka's settings in the environment are wrong. */
  private JobSettings(Map<String, String> own, String[] words, Map<String, String> environment) {
    defaults = new TreeMap<>(COMMON);
    defaults.putAll(own);
    for (String word : words) {
      int equals = word.indexOf('=');
      String name = equals < 0 ? word : word.substring(0, equals);
      if (equals < 0 || !(name.startsWith(KAFKA) || defaults.containsKey(name))) {
        throw new IllegalArgumentException("'" + name + "' is not name=value with one of " + defaults.keySet() + " or kafka.*");
      }
      given.put(name, word.substring(equals + 1));
    }
    client.putAll(kafkaOf(given, environment));
    given.tailMap(KAFKA).forEach((name, value) -> {
      if (name.startsWith(KAFKA)) {
        client.put(name.substring(KAFKA.length()), value);
      }
    });
  }

  /** Properties of Kafka's clients as the environment has them; the word {@code brokers} goes before KAFKA_BROKERS. */
  static Map<String, String> kafkaOf(Map<String, String> words, Map<String, String> environment) {
    Map<String, String> settings = new TreeMap<>(environment);
    String brokers = words.getOrDefault("brokers", "");
    if (!brokers.isEmpty()) {
      settings.put("KAFKA_BROKERS", brokers);
      settings.remove("KAFKA_BROKERS_FILE");
    } else if (settings.getOrDefault("KAFKA_BROKERS", "").isEmpty() && settings.getOrDefault("KAFKA_BROKERS_FILE", "").isEmpty()) {
      throw new IllegalArgumentException("no Kafka: set KAFKA_BROKERS=HOST:PORT where the job is started, or add the word brokers=HOST:PORT");
    }
    return KafkaConnection.of(settings);
  }

  String text(String name) {
    return given.getOrDefault(name, defaults.get(name));
  }

  /** Settings of the pipeline as JSON text; null for the defaults. */
  String pipeline() {
    return text("settings").isEmpty() ? null : text("settings");
  }

  long number(String name) {
    return Long.parseLong(text(name));
  }

  /** null where the word is left out and has no default. */
  Long numberOrNull(String name) {
    return text(name).isEmpty() ? null : Long.valueOf(text(name));
  }

  boolean isUntilEnd() {
    return Boolean.parseBoolean(text("until-end"));
  }

  Set<String> newestOnly() {
    return new LinkedHashSet<>(Arrays.asList(text("newest-only").split(",")));
  }

  DeliveryGuarantee delivery() {
    return switch (text("delivery")) {
      case "at-least-once" -> DeliveryGuarantee.AT_LEAST_ONCE;
      case "exactly-once" -> DeliveryGuarantee.EXACTLY_ONCE;
      default -> throw new IllegalArgumentException("delivery is at-least-once or exactly-once, not " + text("delivery"));
    };
  }

  /** What clients of Kafka are given: the environment's settings, then the words kafka.NAME=VALUE. */
  Properties kafka() {
    Properties properties = new Properties();
    properties.putAll(client);
    return properties;
  }

  Configuration flink() {
    Map<String, String> settings = new TreeMap<>();
    settings.put("execution.checkpointing.interval", text("checkpoint-ms") + " ms");
    settings.put("execution.checkpointing.externalized-checkpoint-retention", "RETAIN_ON_CANCELLATION");
    settings.put("execution.checkpointing.tolerable-failed-checkpoints", "10");
    // A fixed number of attempts is spent while a TaskManager is still starting.
    settings.put("restart-strategy.type", "exponential-delay");
    settings.put("restart-strategy.exponential-delay.initial-backoff", "500 ms");
    settings.put("restart-strategy.exponential-delay.max-backoff", "10 s");
    settings.put("state.backend.type", "hashmap");
    settings.put("pipeline.object-reuse", "true");
    // Marks travel in the records: Flink's own watermarks would be timers for nothing.
    settings.put("pipeline.auto-watermark-interval", "0 ms");
    if (!text("checkpoints").isEmpty()) {
      settings.put("execution.checkpointing.storage", "filesystem");
      settings.put("execution.checkpointing.dir", text("checkpoints"));
    }
    return Configuration.fromMap(settings);
  }
}
