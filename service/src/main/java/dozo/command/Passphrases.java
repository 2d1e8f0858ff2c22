package dozo.command;

import dozo.remote.Identity;
import java.io.Console;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;

/** Asks for the passphrase of a private key, on a terminal. */
final class Passphrases {

    /** As often as ssh. */
    private static final int TRIES = 3;

    private Passphrases() {}

    /**
     * Decrypts the key in a file for this process.
     *
     * @throws Failure without a terminal, or without the right passphrase
     */
    static void unlock(Path file) {
        Console console = Optional.ofNullable(System.console())
                .filter(Console::isTerminal)
                .orElseThrow(() -> new Failure(
                        Exit.NOT_ALLOWED,
                        "the private key %s is encrypted, and there is no terminal to ask for its passphrase: run ssh-add %s, or name a key without one with -i"
                                .formatted(file, file)));
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
            }
        }
        throw new Failure(Exit.NOT_ALLOWED, "the private key %s was not decrypted".formatted(file));
    }
}
