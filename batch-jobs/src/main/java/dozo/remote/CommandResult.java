package dozo.remote;

import java.nio.charset.StandardCharsets;

/**
 * What came of a command at a site.
 *
 * @param exitStatus -1 where the site did not send one
 * @param output standard output
 * @param errors the beginning of standard error, for messages
 */
public record CommandResult(int exitStatus, byte[] output, byte[] errors) {

    String outputText() {
        return new String(output, StandardCharsets.ISO_8859_1);
    }
}
