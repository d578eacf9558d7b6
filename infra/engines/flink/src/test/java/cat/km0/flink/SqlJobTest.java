package cat.km0.flink;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class SqlJobTest {
  @Test
  void takesStatementsApartAndFillsInWords() {
    String text = "-- a comment; with a semicolon\nSET 'a' = 'b';\n\nCREATE TABLE t (\n  -- inside\n  x INT\n) WITH ('at' = '${brokers}');\nINSERT INTO t SELECT ';' FROM t;";
    assertEquals(
        List.of("SET 'a' = 'b'", "CREATE TABLE t (\n  x INT\n) WITH ('at' = 'h:1')", "INSERT INTO t SELECT ';' FROM t"),
        SqlJob.statements(text, Map.of("brokers", "h:1")).stream().map(statement -> statement.replaceAll("\n\\s*\n", "\n")).toList());
  }

  @Test
  void saysWhichWordIsMissing() {
    IllegalArgumentException error = assertThrows(IllegalArgumentException.class, () -> SqlJob.statements("a ${results}", Map.of()));
    assertEquals("the word results=… is missing", error.getMessage());
  }

  @Test
  void tablesAreReachedAsTheEnvironmentSays() {
    String table = "CREATE TABLE t (x INT) WITH ('connector' = 'kafka', 'properties.bootstrap.servers' = 'h:1')";
    assertEquals(table, SqlJob.withClient(table, Map.of("bootstrap.servers", "h:1")));
    assertEquals(
        "CREATE TABLE t (x INT) WITH ('connector' = 'kafka', 'properties.sasl.jaas.config' = 'a=\"it''s\"', 'properties.bootstrap.servers' = 'h:1')",
        SqlJob.withClient(table, Map.of("bootstrap.servers", "h:1", "sasl.jaas.config", "a=\"it's\"")));
  }

  @Test
  void errorsHoldNoSecret() {
    Throwable error = new IllegalStateException("cannot make t", new IllegalArgumentException("options: 'properties.ssl.keystore.key'='KEY'"));
    String told = SqlJob.withoutSecrets(error, Map.of("ssl.keystore.key", "KEY"));
    assertEquals(
        "java.lang.IllegalStateException: cannot make t\ncaused by java.lang.IllegalArgumentException: options: 'properties.ssl.keystore.key'='(hidden)'", told);
  }
}
