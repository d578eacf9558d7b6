package cat.km0.flink;

import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

/** Positions on Flink: Kafka, stamp, key by van, bundle, Kafka; a mark is written when all vans have come as far. */
public final class PositionsJob {
  private PositionsJob() {}

  public static void main(String[] words) throws Exception {
    JobSettings settings = JobSettings.positions(words, System.getenv());
    StreamExecutionEnvironment environment = StreamExecutionEnvironment.getExecutionEnvironment(settings.flink());
    environment.setMaxParallelism((int) settings.number("max-parallelism"));
    build(environment, settings);
    environment.executeAsync("km0 positions");
  }

  static void build(StreamExecutionEnvironment environment, JobSettings settings) {
    long epoch = settings.number("epoch");
    SingleOutputStreamOperator<StampedRecord> stamped =
        environment
            .fromSource(KafkaEnds.source(settings), WatermarkStrategy.noWatermarks(), "log")
            .uid("log")
            .transform("stamp", Types.POJO(StampedRecord.class), new StampOperator(epoch, settings.pipeline(), settings.numberOrNull("outage-after-ms")))
            .uid("stamp");
    SingleOutputStreamOperator<Result> results =
        stamped
            .keyBy(record -> record.key, Types.STRING)
            .transform("vans", Types.POJO(Result.class), new VanOperator(epoch, settings.pipeline(), settings.newestOnly()))
            .uid("vans");
    DataStream<Result> marks =
        results.getSideOutput(VanOperator.MARKS).keyBy(part -> part.mark.key, Types.STRING).process(new MarkGate()).name("marks").uid("marks");
    stamped.getSideOutput(StampOperator.TOLD).union(results, marks).sinkTo(KafkaEnds.sink(settings)).name("results").uid("results");
  }
}
