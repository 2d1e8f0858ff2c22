package dozo.remote;

/**
 * What came of a command at a site.
 *
 * @param exitStatus -1 where the site did not send one
 * @param output standard output, a character for each byte (ISO 8859-1), so that no byte is lost
 * @param errors the beginning of standard error in the same way, for messages
 */
public record CommandResult(int exitStatus, String output, String errors) {}
