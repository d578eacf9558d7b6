package cat.km0.flink;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.Properties;
import org.apache.flink.connector.kafka.lineage.DefaultKafkaDatasetFacet;
import org.apache.flink.connector.kafka.lineage.DefaultKafkaDatasetIdentifier;
import org.apache.flink.connector.kafka.lineage.KafkaDatasetFacet;
import org.apache.flink.connector.kafka.lineage.KafkaDatasetFacetProvider;
import org.apache.flink.connector.kafka.sink.KafkaRecordSerializationSchema;
import org.apache.kafka.clients.producer.ProducerRecord;

/** Writes a result to the topic, key and headers that the bundle gave. Its topics are named beforehand: the sink asks what is open in them. */
public class ResultSchema implements KafkaRecordSerializationSchema<Result>, KafkaDatasetFacetProvider {
  private static final long serialVersionUID = 1;
  private final String[] topics;

  public ResultSchema(String... topics) {
    this.topics = topics.clone();
  }

  @Override
  public Optional<KafkaDatasetFacet> getKafkaDatasetFacet() {
    return Optional.of(new DefaultKafkaDatasetFacet(DefaultKafkaDatasetIdentifier.ofTopics(List.of(topics)), new Properties()));
  }

  @Override
  public ProducerRecord<byte[], byte[]> serialize(Result result, KafkaSinkContext context, Long timestamp) {
    Integer partition = result.partition < 0 ? null : result.partition;
    byte[] key = result.key == null ? null : result.key.getBytes(StandardCharsets.UTF_8);
    ProducerRecord<byte[], byte[]> record =
        new ProducerRecord<>(result.topic, partition, result.timestampMs, key, result.value.getBytes(StandardCharsets.UTF_8));
    if (!result.headers.isEmpty()) {
      for (String header : result.headers.split(";")) {
        int equals = header.indexOf('=');
        record.headers().add(header.substring(0, equals), header.substring(equals + 1).getBytes(StandardCharsets.UTF_8));
      }
    }
    return record;
  }
}
