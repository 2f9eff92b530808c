package dev.culebra.cli;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Properties;
import picocli.CommandLine.IVersionProvider;

/** The version of this build, which Maven wrote into a resource. */
final class Version implements IVersionProvider {
  @Override
  public String[] getVersion() {
    return new String[] {"culebra " + number(), "Java " + Runtime.version()};
  }

  static String number() {
    try (InputStream in = Version.class.getResourceAsStream("version.properties")) {
      if (in == null) {
        throw new IllegalStateException("version.properties is not in the jar");
      }
      Properties properties = new Properties();
      properties.load(in);
      return properties.getProperty("version");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
