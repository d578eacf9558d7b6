package cat.km0.flink;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.function.Consumer;
import org.graalvm.polyglot.Context;
import org.graalvm.polyglot.Value;
import org.graalvm.polyglot.proxy.ProxyExecutable;

/**
 * The script of {@code pnpm build:engine} in a JavaScript context of its own; infra/engines/README.md says what it holds. One thread at a time: Flink
 * calls an operator's methods and timers from its task's thread alone. What the script emits goes to {@code emit} before the call returns.
 */
final class Bundle implements AutoCloseable {
  private static final String SCRIPT = "/km0-engine.js";
  private final Context context;
  private final Value km0;
  private final ProxyExecutable emit;

  Bundle(Consumer<Result> emit) {
    context = Context.newBuilder("js").option("engine.WarnInterpreterOnly", "false").build();
    context.eval("js", script());
    km0 = context.getBindings("js").getMember("km0");
    this.emit =
        given -> {
          Result result = new Result();
          result.topic = given[0].asString();
          result.partition = given[1].asInt();
          result.key = given[2].isNull() ? null : given[2].asString();
          result.value = given[3].asString();
          // Whole numbers of the script may arrive as doubles.
          result.timestampMs = (long) given[4].asDouble();
          result.headers = given[5].asString();
          emit.accept(result);
          return null;
        };
  }

  private static String script() {
    try (InputStream stream = Bundle.class.getResourceAsStream(SCRIPT)) {
      if (stream == null) {
        throw new IllegalStateException(SCRIPT + " is not in the job's jar: pnpm build:engine comes before mvn package");
      }
      return new String(stream.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException error) {
      throw new UncheckedIOException(error);
    }
  }

  /** What the bundle's function {@code name} returns for the arguments, with {@code emit} behind them. */
  Value create(String name, Object... arguments) {
    Object[] all = Arrays.copyOf(arguments, arguments.length + 1);
    all[arguments.length] = emit;
    return km0.getMember(name).execute(all);
  }

  @Override
  public void close() {
    context.close(true);
  }
}
