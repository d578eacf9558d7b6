package km0.streams;

import com.sun.net.httpserver.HttpServer;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import km0.kafka.KafkaConnection;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.errors.StreamsUncaughtExceptionHandler.StreamThreadExceptionResponse;

/** {@code Main positions|stock}: one instance of the job; start as many as there are machines. SIGTERM stops it in order. */
public final class Main {
  private Main() {}

  public static void main(String[] words) throws Exception {
    String role = words.length == 1 ? words[0] : "";
    if (!role.equals("positions") && !role.equals("stock")) {
      System.err.println("say which: positions or stock");
      System.exit(2);
    }
    Map<String, String> environment = System.getenv();
    String id = environment.getOrDefault("KM0_ENGINE_ID", "km0-streams") + "-" + role;
    Map<String, Object> kafka = kafka(environment);
    Properties properties = properties(environment, id);
    properties.putAll(kafka);
    Settings settings = role.equals("stock") ? stockSettings(environment, id, kafka) : Settings.of(environment, id, 1, 1);
    Map<String, Object> client = new HashMap<>(kafka);
    client.putAll(Map.of("group.id", id, "enable.auto.commit", "false", "isolation.level", "read_committed"));
    LogReader reader = new KafkaLogReader(client);
    KafkaStreams streams = new KafkaStreams(role.equals("stock") ? Topologies.stock(settings, reader) : Topologies.positions(settings, reader), properties);
    CountDownLatch over = new CountDownLatch(1);
    boolean[] failed = {false};
    streams.setUncaughtExceptionHandler(error -> {
      String refusal = KafkaConnection.refusal(error);
      if (refusal == null) error.printStackTrace();
      else System.err.println(refusal);
      failed[0] = true;
      over.countDown();
      return StreamThreadExceptionResponse.SHUTDOWN_CLIENT;
    });
    HttpServer server = Metrics.serve(streams, environment.getOrDefault("KM0_ENGINE_HTTP_HOST", "127.0.0.1"),
        (int) Settings.number(environment, "KM0_ENGINE_HTTP_PORT", 0));
    System.out.println("http " + server.getAddress().getPort());
    streams.setStateListener((now, before) -> System.out.println("state " + now));
    Runtime.getRuntime().addShutdownHook(new Thread(() -> {
      streams.close(Duration.ofSeconds(20));
      server.stop(0);
    }));
    streams.start();
    over.await();
    // A supervisor starts it again; what was not committed is computed anew.
    if (failed[0]) System.exit(1);
  }

  /** Ends the program where settings are wrong. */
  private static Map<String, Object> kafka(Map<String, String> environment) {
    try {
      return new HashMap<>(KafkaConnection.of(environment));
    } catch (IllegalArgumentException wrong) {
      System.err.println(wrong.getMessage());
      System.exit(2);
      throw wrong;
    }
  }

  private static Properties properties(Map<String, String> environment, String id) {
    Properties properties = new Properties();
    properties.put(StreamsConfig.APPLICATION_ID_CONFIG, id);
    properties.put(StreamsConfig.PROCESSING_GUARANTEE_CONFIG, StreamsConfig.EXACTLY_ONCE_V2);
    properties.put(StreamsConfig.COMMIT_INTERVAL_MS_CONFIG, Settings.number(environment, "KM0_ENGINE_COMMIT_MS", 1_000));
    properties.put(StreamsConfig.NUM_STREAM_THREADS_CONFIG, (int) Settings.number(environment, "KM0_ENGINE_THREADS", 1));
    properties.put(StreamsConfig.NUM_STANDBY_REPLICAS_CONFIG, (int) Settings.number(environment, "KM0_ENGINE_STANDBY", 0));
    properties.put(StreamsConfig.REPLICATION_FACTOR_CONFIG, (int) Settings.number(environment, "KM0_ENGINE_REPLICATION", -1));
    properties.put(StreamsConfig.STATE_DIR_CONFIG, environment.getOrDefault("KM0_ENGINE_DIR", System.getProperty("java.io.tmpdir") + "/km0-streams"));
    properties.put(StreamsConfig.consumerPrefix(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG), "earliest");
    properties.put(StreamsConfig.consumerPrefix(ConsumerConfig.SESSION_TIMEOUT_MS_CONFIG),
        (int) Settings.number(environment, "KM0_STREAM_SESSION_TIMEOUT_MS", 10_000));
    properties.put(StreamsConfig.consumerPrefix(ConsumerConfig.HEARTBEAT_INTERVAL_MS_CONFIG), 1_500);
    properties.put(StreamsConfig.producerPrefix("max.request.size"), 2_000_000);
    // The shuffle's topic is read once more after a start, so what was committed stays, as long as our own topics keep theirs.
    properties.put(StreamsConfig.REPARTITION_PURGE_INTERVAL_MS_CONFIG, Long.MAX_VALUE);
    // Of the time at which a record was shuffled: a replay shuffles old ones.
    properties.put(StreamsConfig.topicPrefix("message.timestamp.type"), "LogAppendTime");
    properties.put(StreamsConfig.topicPrefix("retention.ms"), Long.toString(Duration.ofDays(8).toMillis()));
    return properties;
  }

  /** The shuffle has as many partitions as results of stock, so that each has its own place there. */
  private static Settings stockSettings(Map<String, String> environment, String id, Map<String, Object> kafka) throws Exception {
    try (Admin admin = Admin.create(kafka)) {
      return Settings.of(environment, id, partitions(admin, ShuffleProcessor.TOPIC), partitions(admin, "inventari.alertes"));
    } catch (ExecutionException error) {
      String refusal = KafkaConnection.refusal(error);
      if (refusal == null) throw error;
      System.err.println(refusal);
      System.exit(1);
      throw error;
    }
  }

  private static int partitions(Admin admin, String topic) throws Exception {
    return admin.describeTopics(List.of(topic)).allTopicNames().get().get(topic).partitions().size();
  }
}
