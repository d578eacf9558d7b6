package km0.streams;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import org.graalvm.polyglot.Context;
import org.graalvm.polyglot.Engine;
import org.graalvm.polyglot.Source;
import org.graalvm.polyglot.Value;
import org.graalvm.polyglot.proxy.ProxyExecutable;

/** One object of the bundle in a context of its own: infra/engines/README.md. Used by one thread at a time. */
final class Core implements AutoCloseable {
  private static final Engine ENGINE = Engine.newBuilder("js").option("engine.WarnInterpreterOnly", "false").build();

  /** Takes what the bundle emits. */
  interface Emit {
    void emit(String topic, int partition, String key, String value, long timestampMs, String headers);
  }

  private final Context context;
  private final Value object;

  /** {@code create} is a function of the bundle; the emit function is put behind its arguments. */
  Core(Source bundle, Emit emit, String create, Object... arguments) {
    context = Context.newBuilder("js").engine(ENGINE).option("js.ecmascript-version", "2023").build();
    context.eval(bundle);
    ProxyExecutable callback = values -> {
      emit.emit(values[0].asString(), values[1].asInt(), values[2].isNull() ? null : values[2].asString(), values[3].asString(), values[4].asLong(),
          values[5].asString());
      return null;
    };
    Object[] all = new Object[arguments.length + 1];
    System.arraycopy(arguments, 0, all, 0, arguments.length);
    all[arguments.length] = callback;
    object = context.eval("js", "km0").getMember(create).execute(all);
  }

  /** {@code onRecord} or {@code reapply} with a record's primitives, after those in {@code first}. Returns the flags. */
  int record(String function, long offset, Object second, byte[] value) {
    String text = null;
    boolean valid = true;
    if (value != null) {
      try {
        text = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(value)).toString();
      } catch (CharacterCodingException e) {
        text = new String(value, StandardCharsets.UTF_8);
        valid = false;
      }
    }
    return object.invokeMember(function, offset, second, text, value == null ? 0 : value.length, valid).asInt();
  }

  void call(String function, Object... arguments) {
    object.invokeMember(function, arguments);
  }

  String text(String function) {
    return object.invokeMember(function).asString();
  }

  double number(String property) {
    return object.getMember(property).asDouble();
  }

  @Override
  public void close() {
    context.close(true);
  }
}
