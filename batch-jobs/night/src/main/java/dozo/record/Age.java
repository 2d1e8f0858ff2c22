package dozo.record;

import com.exceptionfactory.jagged.RecipientStanzaReader;
import com.exceptionfactory.jagged.RecipientStanzaWriter;
import com.exceptionfactory.jagged.framework.stream.StandardDecryptingChannelFactory;
import com.exceptionfactory.jagged.framework.stream.StandardEncryptingChannelFactory;
import com.exceptionfactory.jagged.x25519.X25519RecipientStanzaReaderFactory;
import com.exceptionfactory.jagged.x25519.X25519RecipientStanzaWriterFactory;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.channels.Channels;
import java.security.GeneralSecurityException;
import java.util.ArrayList;
import java.util.List;

/** The age format with X25519 keys (age-encryption.org/v1), as the tool {@code age} reads and writes it. */
final class Age {

    private Age() {}

    /** Returns whether this is a public key: {@code age1…}. */
    static boolean isRecipient(String text) {
        try {
            X25519RecipientStanzaWriterFactory.newRecipientStanzaWriter(text);
            return true;
        } catch (GeneralSecurityException | IllegalArgumentException no) {
            return false;
        }
    }

    /** Encrypts to each of these public keys. The end is written on closing, which closes {@code out} as well. */
    static OutputStream encrypting(OutputStream out, List<String> recipients) throws IOException {
        try {
            List<RecipientStanzaWriter> writers = new ArrayList<>();
            for (String recipient : recipients) {
                writers.add(X25519RecipientStanzaWriterFactory.newRecipientStanzaWriter(recipient));
            }
            return Channels.newOutputStream(
                    new StandardEncryptingChannelFactory().newEncryptingChannel(Channels.newChannel(out), writers));
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    /**
     * Decrypts with one of these private keys, {@code AGE-SECRET-KEY-1…}. Reading fails with an {@link IOException}
     * where the content was changed or cut.
     *
     * @throws GeneralSecurityException if it is encrypted to other keys, or is not in this format
     */
    static InputStream decrypting(InputStream in, List<String> identities)
            throws IOException, GeneralSecurityException {
        List<RecipientStanzaReader> readers = new ArrayList<>();
        for (String identity : identities) {
            readers.add(X25519RecipientStanzaReaderFactory.newRecipientStanzaReader(identity));
        }
        return Channels.newInputStream(
                new StandardDecryptingChannelFactory().newDecryptingChannel(Channels.newChannel(in), readers));
    }
}
