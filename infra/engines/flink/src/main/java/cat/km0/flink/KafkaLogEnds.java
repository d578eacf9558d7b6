package cat.km0.flink;

import java.time.Duration;
import java.util.List;
import java.util.Properties;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/** Asks with a consumer that joins no group. */
final class KafkaLogEnds implements LogEnds {
  private static final Duration POLL = Duration.ofMillis(100);
  private static final int POLLS = 20;

  private final String topic;
  private final KafkaConsumer<byte[], byte[]> consumer;

  KafkaLogEnds(Properties client, String topic) {
    this.topic = topic;
    Properties properties = new Properties();
    properties.putAll(client);
    properties.put("default.api.timeout.ms", "5000");
    properties.put("request.timeout.ms", "4000");
    consumer = new KafkaConsumer<>(properties, new ByteArrayDeserializer(), new ByteArrayDeserializer());
  }

  /** A factory for subtasks. */
  static LogEnds.Factory of(Properties client, String topic) {
    return () -> new KafkaLogEnds(client, topic);
  }

  @Override
  public int partitions() {
    return consumer.partitionsFor(topic).size();
  }

  @Override
  public boolean hasMore(int partition, long fromOffset) {
    TopicPartition of = new TopicPartition(topic, partition);
    try {
      consumer.assign(List.of(of));
      long from = Math.max(fromOffset, consumer.beginningOffsets(List.of(of)).get(of));
      long end = consumer.endOffsets(List.of(of)).get(of);
      if (from >= end) {
        return false;
      }
      // What is left may be ends of transactions alone.
      consumer.seek(of, from);
      for (int poll = 0; poll < POLLS && consumer.position(of) < end; poll++) {
        if (!consumer.poll(POLL).isEmpty()) {
          return true;
        }
      }
      return consumer.position(of) < end;
    } catch (RetriableException noAnswer) {
      return true;
    }
  }

  @Override
  public void close() {
    consumer.close(org.apache.kafka.clients.consumer.CloseOptions.timeout(Duration.ZERO));
  }
}
