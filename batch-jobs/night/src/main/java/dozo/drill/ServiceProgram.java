package dozo.drill;

import java.util.List;

/**
 * The program that this service runs, to start one of its commands in another process.
 *
 * @param main takes the command's arguments
 * @param options of Java
 */
public record ServiceProgram(Class<?> main, List<String> options) {}
