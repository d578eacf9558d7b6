package km0.streams;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import org.apache.kafka.common.Metric;
import org.apache.kafka.common.MetricName;
import org.apache.kafka.streams.KafkaStreams;

/** {@code /metrics} as Prometheus text, {@code /health} 200 while the instance runs. */
final class Metrics {
  private static final Map<String, Integer> OUTCOMES = Map.of("accepted", 1, "invalid", 2, "future", 4, "ancient", 8, "late", 16, "partlyLate", 32,
      "duplicate", 64, "heartbeat", 128, "settings", 256);
  private static final Set<String> GROUPS = Set.of("stream-metrics", "stream-thread-metrics", "stream-task-metrics", "consumer-fetch-manager-metrics",
      "stream-state-metrics");
  private static final Map<String, LongAdder> RECORDS = new ConcurrentHashMap<>();
  private static final Map<String, Double> WATERMARKS = new ConcurrentHashMap<>();

  private Metrics() {}

  static void count(int flags) {
    OUTCOMES.forEach((name, bit) -> {
      if ((flags & bit) != 0) RECORDS.computeIfAbsent(name, any -> new LongAdder()).increment();
    });
  }

  static void watermark(String topic, int partition, double ms) {
    if (Double.isFinite(ms)) WATERMARKS.put("topic=\"" + topic + "\",partition=\"" + partition + "\"", ms / 1000);
  }

  static HttpServer serve(KafkaStreams streams, String host, int port) throws IOException {
    HttpServer server = HttpServer.create(new InetSocketAddress(host, port), 0);
    server.createContext("/metrics", exchange -> answer(exchange, 200, text(streams)));
    server.createContext("/health", exchange -> {
      KafkaStreams.State state = streams.state();
      answer(exchange, state.isRunningOrRebalancing() ? 200 : 503, "{\"state\":\"" + state + "\"}");
    });
    server.start();
    return server;
  }

  private static void answer(HttpExchange exchange, int status, String text) throws IOException {
    byte[] body = text.getBytes(StandardCharsets.UTF_8);
    exchange.sendResponseHeaders(status, body.length);
    exchange.getResponseBody().write(body);
    exchange.close();
  }

  private static String text(KafkaStreams streams) {
    StringBuilder text = new StringBuilder();
    RECORDS.forEach((outcome, count) -> text.append("km0_stream_records_total{outcome=\"").append(outcome).append("\"} ").append(count).append('\n'));
    WATERMARKS.forEach((labels, seconds) -> text.append("km0_stream_watermark_seconds{").append(labels).append("} ").append(seconds).append('\n'));
    text.append("km0_engine_running ").append(streams.state() == KafkaStreams.State.RUNNING ? 1 : 0).append('\n');
    for (Map.Entry<MetricName, ? extends Metric> entry : streams.metrics().entrySet()) {
      MetricName name = entry.getKey();
      if (!GROUPS.contains(name.group()) || !(entry.getValue().metricValue() instanceof Number number) || !Double.isFinite(number.doubleValue())) continue;
      StringBuilder labels = new StringBuilder();
      name.tags().forEach((tag, value) -> labels.append(labels.length() == 0 ? "" : ",").append(tag.replaceAll("[^a-zA-Z0-9]", "_")).append("=\"")
          .append(value.replace("\\", "\\\\").replace("\"", "\\\"")).append('"'));
      text.append("kafka_").append((name.group() + "_" + name.name()).replaceAll("[^a-zA-Z0-9]", "_")).append('{').append(labels).append("} ")
          .append(number).append('\n');
    }
    return text.toString();
  }
}
