package km0.streams;

import org.apache.kafka.common.serialization.Deserializer;
import org.apache.kafka.common.serialization.Serde;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.serialization.Serializer;

/** A result record. {@code partition} is -1 where the key decides. */
record Result(String topic, int partition, byte[] value) {
  static final Serializer<Result> SERIALIZER = (topic, result) -> result.value();
  private static final Deserializer<Result> DESERIALIZER = (topic, value) -> new Result(topic, -1, value);
  static final Serde<Result> SERDE = Serdes.serdeFrom(SERIALIZER, DESERIALIZER);
}
