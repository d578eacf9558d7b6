package cat.km0.flink;

import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.connector.base.DeliveryGuarantee;
import org.apache.flink.connector.kafka.sink.KafkaSink;
import org.apache.flink.connector.kafka.sink.TransactionNamingStrategy;
import org.apache.flink.connector.kafka.source.KafkaSource;
import org.apache.flink.connector.kafka.source.KafkaSourceBuilder;
import org.apache.flink.connector.kafka.source.enumerator.initializer.OffsetsInitializer;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

/** Positions on Flink: Kafka, stamp, key by van, bundle, Kafka. */
public final class PositionsJob {
  private PositionsJob() {}

  public static void main(String[] words) throws Exception {
    JobSettings settings = new JobSettings(words);
    StreamExecutionEnvironment environment = StreamExecutionEnvironment.getExecutionEnvironment(settings.flink());
    environment.setMaxParallelism((int) settings.number("max-parallelism"));
    build(environment, settings);
    environment.executeAsync("km0 positions");
  }

  static void build(StreamExecutionEnvironment environment, JobSettings settings) {
    long epoch = settings.number("epoch");
    SingleOutputStreamOperator<StampedRecord> stamped =
        environment
            .fromSource(source(settings), WatermarkStrategy.noWatermarks(), "log")
            .uid("log")
            .transform("stamp", Types.POJO(StampedRecord.class), new StampOperator(epoch, settings.pipeline()))
            .uid("stamp");
    DataStream<Result> results =
        stamped
            .keyBy(record -> record.key, Types.STRING)
            .transform("vans", Types.POJO(Result.class), new VanOperator(epoch, settings.pipeline(), settings.newestOnly()))
            .uid("vans");
    stamped.getSideOutput(StampOperator.REFUSED).union(results).sinkTo(sink(settings)).name("results").uid("results");
  }

  private static KafkaSource<LogRecord> source(JobSettings settings) {
    KafkaSourceBuilder<LogRecord> builder =
        KafkaSource.<LogRecord>builder()
            .setProperties(settings.kafka())
            .setBootstrapServers(settings.text("brokers"))
            .setTopics(settings.text("topic"))
            .setGroupId(settings.text("group"))
            .setClientIdPrefix(settings.text("group"))
            .setStartingOffsets(OffsetsInitializer.earliest())
            .setDeserializer(new LogRecordSchema())
            .setProperty("partition.discovery.interval.ms", "10000");
    return settings.isUntilEnd() ? builder.setBounded(OffsetsInitializer.latest()).build() : builder.build();
  }

  private static KafkaSink<Result> sink(JobSettings settings) {
    var builder =
        KafkaSink.<Result>builder()
            .setKafkaProducerConfig(settings.kafka())
            .setBootstrapServers(settings.text("brokers"))
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
