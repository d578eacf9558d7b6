package km0.streams;

import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.StoreBuilder;
import org.apache.kafka.streams.state.Stores;

final class Topologies {
  private Topologies() {}

  static Topology positions(Settings settings, LogReader reader) {
    Topology topology = new Topology();
    source(topology, "positions-in", PositionsProcessor.TOPIC);
    topology.addProcessor("positions", () -> new PositionsProcessor(settings, reader), "positions-in");
    topology.addStateStore(store(PositionsProcessor.STORE), "positions");
    sink(topology, "positions-out", "positions");
    return topology;
  }

  private static void source(Topology topology, String name, String topic) {
    topology.addSource(name, new ByteArrayDeserializer(), new ByteArrayDeserializer(), topic);
  }

  private static void sink(Topology topology, String name, String parent) {
    topology.addSink(name, (key, result, context) -> ((Result) result).topic(), new ByteArraySerializer(), (String topic, Result result) -> result.value(),
        (topic, key, result, partitions) -> result.partition() < 0 ? Optional.empty() : Optional.of(Set.of(result.partition())), parent);
  }

  /** A state is some kilobytes a van and lives in the task's object anyway: it is kept in memory and logged. */
  private static StoreBuilder<KeyValueStore<String, byte[]>> store(String name) {
    return Stores.keyValueStoreBuilder(Stores.inMemoryKeyValueStore(name), Serdes.String(), Serdes.ByteArray())
        .withLoggingEnabled(Map.of("min.compaction.lag.ms", "0", "segment.ms", "600000"));
  }
}
