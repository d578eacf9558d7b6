package km0.streams;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/** Opens a consumer for each call: they are rare. */
final class KafkaLogReader implements LogReader {
  private static final Duration POLL = Duration.ofMillis(200);

  private final Map<String, Object> client;

  /** {@code client}: settings of a consumer that names the application's group, which it never joins. */
  KafkaLogReader(Map<String, Object> client) {
    this.client = client;
  }

  @Override
  public void read(String topic, int partition, long fromOffset, long toOffset, Consumer<ConsumerRecord<byte[], byte[]>> each) {
    TopicPartition of = new TopicPartition(topic, partition);
    try (KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(client, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
      consumer.assign(List.of(of));
      if (fromOffset < 0) consumer.seekToBeginning(List.of(of));
      else consumer.seek(of, fromOffset);
      while (consumer.position(of) < toOffset) {
        for (ConsumerRecord<byte[], byte[]> record : consumer.poll(POLL).records(of)) if (record.offset() < toOffset) each.accept(record);
      }
    }
  }

  @Override
  public long committed(String topic, int partition) {
    TopicPartition of = new TopicPartition(topic, partition);
    try (KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(client, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
      OffsetAndMetadata place = consumer.committed(Set.of(of)).get(of);
      return place == null ? -1 : place.offset();
    }
  }

  @Override
  public boolean hasMore(String topic, int partition, long fromOffset) {
    TopicPartition of = new TopicPartition(topic, partition);
    try (KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(client, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
      consumer.assign(List.of(of));
      consumer.seek(of, fromOffset);
      long end = consumer.endOffsets(List.of(of)).get(of);
      while (consumer.position(of) < end) if (!consumer.poll(POLL).isEmpty()) return true;
      return false;
    }
  }
}
