package dozo.command;

import dozo.remote.Identity;
import java.io.Console;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;

/** Asks for the passphrase of a private key, on a terminal. */
final class Passphrases {

    /** As often as ssh. */
    private static final int TRIES = 3;

    private Passphrases() {}

    /**
     * Decrypts the key in a file for this process.
     *
     * @param silent whether nothing may be asked
     * @param optional whether to go on without this key if no passphrase is typed, or no right one
     * @throws Failure if nobody can be asked; or without the right passphrase
     */
    static void unlock(Path file, boolean silent, boolean optional) {
        Console console = Terminal.console()
                .filter(terminal -> !silent)
                .orElseThrow(() -> new Failure(
                        Exit.NOT_ALLOWED,
                        "the private key %s is encrypted, and %s: run ssh-add %s, or name a key without one with -i"
                                .formatted(
                                        file,
                                        silent
                                                ? "BatchMode forbids to ask for its passphrase"
                                                : "there is no terminal to ask for its passphrase",
                                        file)));
        for (int i = 0; i < TRIES; i++) {
            char[] typed = console.readPassword("Passphrase for %s: ", Login.visible(file.toString()));
            if (typed == null || typed.length == 0) {
                break;
            }
            try {
                Identity.unlock(file, new String(typed));
                return;
            } catch (IOException wrong) {
                console.printf("The passphrase is wrong.%n");
            } finally {
                Arrays.fill(typed, '\0');
            }
        }
        if (!optional) {
            throw new Failure(Exit.NOT_ALLOWED, "the private key %s was not decrypted".formatted(file));
        }
    }
}
