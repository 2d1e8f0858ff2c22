/**
 * The program. Its first argument selects a command: {@link dozo.command.Dozo} has those that ask a running service,
 * {@link dozo.Application} those that need Spring or the database in this process.
 *
 * <p>The rooms of this module, by what somebody looks for:
 *
 * <ul>
 *   <li>{@code api}: a resource of REST for each subject ({@code HoldApi}), which declares the subject's commands and forms, too;
 *       {@code api.http}: what all of them share
 *   <li>{@code command}: commands made from these declarations, and those that follow a run, stream files or make a report
 *   <li>{@code start}: settings, database, lease, stand-by; {@code backup}: of Dozo itself; {@code doctor}: checks of an installation
 *   <li>{@code security}: logins, sessions, the gate before every request, TLS
 *   <li>{@code schedule}: what begins by the clock; {@code message}: mail and webhooks; {@code broker}: notices to workers
 *   <li>{@code metrics}, {@code identity} (names of people where none may be), {@code demo}
 * </ul>
 *
 * <p>Pages are the module {@code ui}. Stores are in {@code catalogue}, runs in {@code night}. A subject has the same first word in all of them:
 * {@code Holds}, {@code HoldApi}, {@code HoldsPage}, {@code holds.html}.
 */
@NullMarked
package dozo;

import org.jspecify.annotations.NullMarked;
