package cat.km0.flink;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.table.api.EnvironmentSettings;
import org.apache.flink.table.api.TableEnvironment;

/**
 * Runs a file of SQL as a job: {@code sql=low-stock brokers=HOST:PORT results=TOPIC}. {@code sql} is one of the job's jar (infra/engines/flink/sql) or
 * a path; what stands as <code>${name}</code> in it is the word of that name. The last statement is the job.
 */
public final class SqlJob {
  private static final Pattern SET = Pattern.compile("SET\\s+'([^']+)'\\s*=\\s*'([^']*)'");
  private static final Pattern NAME = Pattern.compile("\\$\\{([a-z-]+)\\}");
  private static final String BROKERS = "bootstrap.servers";

  private SqlJob() {}

  public static void main(String[] words) throws IOException {
    Map<String, String> given = new TreeMap<>();
    for (String word : words) {
      int equals = word.indexOf('=');
      if (equals < 0) {
        throw new IllegalArgumentException("'" + word + "' is not name=value");
      }
      given.put(word.substring(0, equals), word.substring(equals + 1));
    }
    Map<String, String> kafka = JobSettings.kafkaOf(given, System.getenv());
    given.put("brokers", kafka.get(BROKERS));
    Configuration configuration = new Configuration();
    List<String> statements = new ArrayList<>();
    for (String statement : statements(text(given.getOrDefault("sql", "")), given)) {
      Matcher set = SET.matcher(statement);
      if (set.matches()) {
        configuration.setString(set.group(1), set.group(2));
      } else {
        statements.add(withClient(statement, kafka));
      }
    }
    TableEnvironment tables = TableEnvironment.create(EnvironmentSettings.newInstance().inStreamingMode().withConfiguration(configuration).build());
    for (String statement : statements) {
      try {
        tables.executeSql(statement);
      } catch (RuntimeException error) {
        IllegalStateException shown = new IllegalStateException(withoutSecrets(error, kafka));
        shown.setStackTrace(error.getStackTrace());
        throw shown;
      }
    }
  }

  /** A table's options with TLS and SASL as the environment has them, before its address. A quote in a text of SQL is written twice. */
  static String withClient(String statement, Map<String, String> kafka) {
    StringBuilder options = new StringBuilder();
    kafka.forEach((name, value) -> {
      if (!name.equals(BROKERS)) {
        options.append("'properties.").append(name).append("' = '").append(value.replace("'", "''")).append("', ");
      }
    });
    return statement.replace("'properties." + BROKERS + "'", options + "'properties." + BROKERS + "'");
  }

  /** What the error and its causes say: Flink lists options of a table that it cannot make, and hides only some. */
  static String withoutSecrets(Throwable error, Map<String, String> kafka) {
    StringBuilder told = new StringBuilder();
    for (Throwable each = error; each != null; each = each.getCause()) {
      told.append(told.isEmpty() ? "" : "\ncaused by ").append(each);
    }
    String text = told.toString();
    for (String name : List.of("sasl.jaas.config", "ssl.keystore.key")) {
      String secret = kafka.get(name);
      if (secret != null) {
        text = text.replace(secret, "(hidden)").replace(secret.replace("'", "''"), "(hidden)");
      }
    }
    return text;
  }

  private static String text(String name) throws IOException {
    try (InputStream inside = SqlJob.class.getResourceAsStream("/" + name + ".sql")) {
      return inside == null ? Files.readString(Path.of(name)) : new String(inside.readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  /** Statements of a text, without comments. Throws when it names a word that is not given. */
  static List<String> statements(String text, Map<String, String> given) {
    String filled =
        NAME.matcher(text.replaceAll("(?m)^\\s*--.*$", ""))
            .replaceAll(
                found -> {
                  String value = given.get(found.group(1));
                  if (value == null) {
                    throw new IllegalArgumentException("the word " + found.group(1) + "=… is missing");
                  }
                  return Matcher.quoteReplacement(value);
                });
    List<String> statements = new ArrayList<>();
    for (String statement : filled.split(";\\s*(\\n|$)")) {
      if (!statement.isBlank()) {
        statements.add(statement.strip());
      }
    }
    return statements;
  }
}
