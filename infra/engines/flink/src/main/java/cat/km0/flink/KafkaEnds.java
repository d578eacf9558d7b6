package cat.km0.flink;

import org.apache.flink.connector.base.DeliveryGuarantee;
import org.apache.flink.connector.kafka.sink.KafkaSink;
import org.apache.flink.connector.kafka.sink.TransactionNamingStrategy;
import org.apache.flink.connector.kafka.source.KafkaSource;
import org.apache.flink.connector.kafka.source.KafkaSourceBuilder;
import org.apache.flink.connector.kafka.source.enumerator.initializer.OffsetsInitializer;

/** Both ends of a job. */
final class KafkaEnds {
  private KafkaEnds() {}

  static KafkaSource<LogRecord> source(JobSettings settings) {
    KafkaSourceBuilder<LogRecord> builder =
        KafkaSource.<LogRecord>builder()
            .setProperties(settings.kafka())
            .setTopics(settings.text("topic"))
            .setGroupId(settings.text("group"))
            .setClientIdPrefix(settings.text("group"))
            .setStartingOffsets(OffsetsInitializer.earliest())
            .setDeserializer(new LogRecordSchema())
            .setProperty("partition.discovery.interval.ms", "10000");
    return settings.isUntilEnd() ? builder.setBounded(OffsetsInitializer.latest()).build() : builder.build();
  }

  static KafkaSink<Result> sink(JobSettings settings) {
    var builder =
        KafkaSink.<Result>builder()
            .setKafkaProducerConfig(settings.kafka())
            .setBootstrapServers(settings.kafka().getProperty("bootstrap.servers"))
            .setRecordSerializer(new ResultSchema(settings.text("result-topics").split(",")))
            .setDeliveryGuarantee(settings.delivery())
            .setProperty("linger.ms", "20");
    if (settings.delivery() == DeliveryGuarantee.EXACTLY_ONCE) {
      // Pooled names: at a start the sink asks the broker which transactions are open instead of trying names that may be. The connector's
      // default time-out of an hour is above the broker's maximum.
      builder
          .setTransactionNamingStrategy(TransactionNamingStrategy.POOLING)
          .setTransactionalIdPrefix(settings.text("transaction-prefix"))
          .setProperty("transaction.timeout.ms", settings.text("transaction-timeout-ms"));
    }
    return builder.build();
  }
}
