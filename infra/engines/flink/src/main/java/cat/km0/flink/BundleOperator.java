package cat.km0.flink;

import org.apache.flink.streaming.api.operators.AbstractStreamOperator;

/** An operator that hosts objects of the bundle, and does some things again and again by the machine's clock. */
abstract class BundleOperator<Out> extends AbstractStreamOperator<Out> {
  private static final long serialVersionUID = 1;
  /** Made in {@code open}. */
  protected transient Bundle bundle;

  protected final long nowMs() {
    return getProcessingTimeService().getCurrentProcessingTime();
  }

  /** Runs {@code action} on the task's thread, the first time after {@code periodMs}. */
  protected final void every(long periodMs, Runnable action) {
    getProcessingTimeService()
        .registerTimer(
            nowMs() + periodMs,
            time -> {
              action.run();
              every(periodMs, action);
            });
  }

  @Override
  public void close() throws Exception {
    if (bundle != null) {
      bundle.close();
    }
    super.close();
  }
}
