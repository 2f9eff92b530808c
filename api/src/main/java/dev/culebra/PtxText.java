package dev.culebra;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What PTX says about itself. The driver answers one code for a target it does not know, one that
 * the device lacks, and a syntax error; reading two directives first tells them apart.
 */
record PtxText(
    String version, String target, ComputeCapability capability, List<String> entryPoints) {

  // Comments are blanked first, so a directive stands at the start of a line.
  private static final Pattern COMMENT = Pattern.compile("//[^\\n]*|/\\*.*?\\*/", Pattern.DOTALL);
  private static final Pattern VERSION =
      Pattern.compile("^\\s*\\.version\\s+(\\d+\\.\\d+)", Pattern.MULTILINE);
  private static final Pattern TARGET =
      Pattern.compile("^\\s*\\.target\\s+(sm_(\\d{2,3})[af]?)\\b", Pattern.MULTILINE);
  private static final Pattern ENTRY = Pattern.compile("\\.entry\\s+([A-Za-z_$%][\\w$]*)");

  static boolean looksLike(byte[] image) {
    String head = new String(image, 0, Math.min(image.length, 4096), UTF_8);
    int end = head.indexOf('\0');
    return (end < 0 ? head : head.substring(0, end)).contains(".version");
  }

  static PtxText read(byte[] image) throws MalformedImage {
    String text = COMMENT.matcher(new String(image, UTF_8)).replaceAll(" ");
    // The driver wants a terminating NUL, so files may have one; any other is damage.
    int nul = text.indexOf('\0');
    if (nul >= 0 && !text.substring(nul).replace('\0', ' ').isBlank()) {
      throw new MalformedImage("it is PTX with a NUL inside");
    }
    Matcher version = VERSION.matcher(text);
    Matcher target = TARGET.matcher(text);
    if (!version.find() || !target.find()) {
      throw new MalformedImage("it looks like PTX but has no .version and .target directive");
    }
    int sm = Integer.parseInt(target.group(2));
    if (sm < 10) {
      throw new MalformedImage("its target " + target.group(1) + " names no architecture");
    }
    List<String> entries = new ArrayList<>();
    for (Matcher entry = ENTRY.matcher(text); entry.find(); ) {
      entries.add(entry.group(1));
    }
    return new PtxText(
        version.group(1), target.group(1), ComputeCapability.ofSm(sm), List.copyOf(entries));
  }
}
