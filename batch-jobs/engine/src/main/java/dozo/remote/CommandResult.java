package dozo.remote;

/**
 * The result of a command at a site.
 *
 * @param exitStatus -1 if the site did not send one
 * @param output standard output, one character per byte (ISO 8859-1), so that no byte is lost
 * @param errors the beginning of standard error in the same encoding, for messages
 */
public record CommandResult(int exitStatus, String output, String errors) {}
