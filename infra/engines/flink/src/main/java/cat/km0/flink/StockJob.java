package cat.km0.flink;

import java.util.List;
import java.util.concurrent.ExecutionException;
import km0.kafka.KafkaConnection;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.kafka.clients.admin.Admin;

/** Low stock on Flink: Kafka, the bundle's shuffle, key by the place of product and market, the bundle's windows, Kafka. */
public final class StockJob {
  private StockJob() {}

  public static void main(String[] words) throws Exception {
    JobSettings settings = JobSettings.stock(words, System.getenv());
    StreamExecutionEnvironment environment = StreamExecutionEnvironment.getExecutionEnvironment(settings.flink());
    environment.setMaxParallelism((int) settings.number("max-parallelism"));
    build(environment, settings, targets(settings));
    environment.executeAsync("km0 low stock");
  }

  /** As many as results of stock have partitions, so that a result is in the partition where our own job writes it. */
  private static int targets(JobSettings settings) throws Exception {
    String topic = settings.text("like-topic");
    try (Admin admin = Admin.create(settings.kafka())) {
      return admin.describeTopics(List.of(topic)).allTopicNames().get().get(topic).partitions().size();
    } catch (ExecutionException error) {
      String refusal = KafkaConnection.refusal(error);
      throw refusal == null ? error : new IllegalStateException(refusal);
    }
  }

  static void build(StreamExecutionEnvironment environment, JobSettings settings, int targets) {
    long epoch = settings.number("epoch");
    LogEnds.Factory broker = KafkaLogEnds.of(settings.kafka(), settings.text("topic"));
    SingleOutputStreamOperator<Result> shuffled =
        environment
            .fromSource(KafkaEnds.source(settings), WatermarkStrategy.noWatermarks(), "log")
            .uid("log")
            .transform(
                "shuffle",
                Types.POJO(Result.class),
                new ShuffleOperator(epoch, settings.pipeline(), targets, settings.number("idle-ms"), broker))
            .uid("shuffle");
    DataStream<Result> results =
        shuffled
            .keyBy(result -> result.partition, Types.INT)
            .transform("windows", Types.POJO(Result.class), new WindowsOperator(epoch, settings.pipeline()))
            .uid("windows");
    shuffled.getSideOutput(ShuffleOperator.TOLD).union(results).sinkTo(KafkaEnds.sink(settings)).name("results").uid("results");
  }
}
