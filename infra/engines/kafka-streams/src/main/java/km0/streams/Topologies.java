package km0.streams;

import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.kafka.common.serialization.Serde;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.KStream;
import org.apache.kafka.streams.kstream.Named;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.kstream.Repartitioned;
import org.apache.kafka.streams.processor.StreamPartitioner;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.StoreBuilder;
import org.apache.kafka.streams.state.Stores;

final class Topologies {
  private static final Serde<byte[]> BYTES = Serdes.ByteArray();
  /** The partition that the bundle gave, or the one that the key decides. */
  private static final StreamPartitioner<byte[], Result> PARTITIONER =
      (topic, key, result, partitions) -> result.partition() < 0 ? Optional.empty() : Optional.of(Set.of(result.partition()));

  private Topologies() {}

  static Topology positions(Settings settings, LogReader reader) {
    StreamsBuilder builder = new StreamsBuilder();
    builder.addStateStore(store(PositionsProcessor.STORE));
    write(source(builder, PositionsProcessor.TOPIC)
        .process(() -> new PositionsProcessor(settings, reader), Named.as("positions"), PositionsProcessor.STORE));
    return builder.build();
  }

  /** Source partitions of stock, the engine's own topic for the shuffle, windows of its partitions. */
  static Topology stock(Settings settings, LogReader reader) {
    StreamsBuilder builder = new StreamsBuilder();
    builder.addStateStore(store(ShuffleProcessor.STORE));
    builder.addStateStore(store(WindowsProcessor.STORE));
    KStream<byte[], Result> told = source(builder, ShuffleProcessor.TOPIC)
        .process(() -> new ShuffleProcessor(settings, reader), Named.as("shuffle"), ShuffleProcessor.STORE);
    write(told.filterNot((key, result) -> result.topic().equals(settings.shuffleTopic())));
    write(told
        .filter((key, result) -> result.topic().equals(settings.shuffleTopic()))
        .repartition(Repartitioned.<byte[], Result>as(settings.shuffleName()).withKeySerde(BYTES).withValueSerde(Result.SERDE)
            .withNumberOfPartitions(settings.shuffleTargets()).withStreamPartitioner(PARTITIONER))
        .mapValues(Result::value)
        .process(() -> new WindowsProcessor(settings, reader), Named.as("windows"), WindowsProcessor.STORE));
    return builder.build();
  }

  private static KStream<byte[], byte[]> source(StreamsBuilder builder, String topic) {
    return builder.stream(topic, Consumed.with(BYTES, BYTES));
  }

  private static void write(KStream<byte[], Result> results) {
    results.to((key, result, context) -> result.topic(), Produced.with(BYTES, Result.SERDE).withStreamPartitioner(PARTITIONER));
  }

  /** A state is some kilobytes a van and lives in the task's object anyway: it is kept in memory and logged. */
  private static StoreBuilder<KeyValueStore<String, byte[]>> store(String name) {
    return Stores.keyValueStoreBuilder(Stores.inMemoryKeyValueStore(name), Serdes.String(), Serdes.ByteArray())
        .withLoggingEnabled(Map.of("min.compaction.lag.ms", "0", "segment.ms", "600000"));
  }
}
