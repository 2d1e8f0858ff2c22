package dozo.message;

import dozo.start.SecretFile;
import jakarta.mail.AuthenticationFailedException;
import jakarta.mail.MessagingException;
import jakarta.mail.Session;
import jakarta.mail.Transport;
import java.util.Optional;
import java.util.Properties;
import org.jspecify.annotations.Nullable;

/** Connections to the mail server that is set. */
public final class MailServer {

    private static final String CONNECT_MILLIS = "10000";
    private static final String ANSWER_MILLIS = "20000";

    private MailServer() {}

    /** Returns why no mail could be sent now; empty if the server answers and accepts the login. Nothing is sent. */
    public static Optional<String> fault(MailSettings settings, String machine) {
        try (Transport transport = connected(session(settings, machine), settings)) {
            return transport.isConnected() ? Optional.empty() : Optional.of("the mail server has ended the connection");
        } catch (NotDelivered e) {
            return Optional.of(String.valueOf(e.getMessage()));
        } catch (MessagingException e) {
            return Optional.of(String.valueOf(unusable(settings, e).getMessage()));
        }
    }

    static Session session(MailSettings settings, String machine) {
        String protocol = settings.tls().equals("tls") ? "smtps" : "smtp";
        String prefix = "mail." + protocol + ".";
        Properties properties = new Properties();
        properties.setProperty("mail.transport.protocol", protocol);
        properties.setProperty(prefix + "host", settings.host());
        properties.setProperty(prefix + "port", String.valueOf(settings.port()));
        properties.setProperty(prefix + "auth", String.valueOf(!settings.user().isEmpty()));
        properties.setProperty(prefix + "connectiontimeout", CONNECT_MILLIS);
        properties.setProperty(prefix + "timeout", ANSWER_MILLIS);
        properties.setProperty(prefix + "writetimeout", ANSWER_MILLIS);
        properties.setProperty(prefix + "localhost", machine);
        boolean upgrade = settings.tls().equals("starttls");
        properties.setProperty(prefix + "starttls.enable", String.valueOf(upgrade));
        properties.setProperty(prefix + "starttls.required", String.valueOf(upgrade));
        properties.setProperty(prefix + "ssl.checkserveridentity", "true");
        return Session.getInstance(properties);
    }

    static Transport connected(Session session, MailSettings settings) throws NotDelivered {
        try {
            Transport transport = session.getTransport();
            if (settings.user().isEmpty()) {
                transport.connect();
            } else {
                transport.connect(settings.user(), SecretFile.read(settings.passwordFile()));
            }
            return transport;
        } catch (AuthenticationFailedException e) {
            throw new NotDelivered("the mail server %s refuses the login".formatted(settings.host()), false, e);
        } catch (MessagingException e) {
            throw unusable(settings, e);
        } catch (IllegalArgumentException e) {
            throw new NotDelivered("the password file " + e.getMessage(), false, e);
        }
    }

    static NotDelivered unusable(MailSettings settings, MessagingException e) {
        return new NotDelivered(
                "the mail server %s cannot be used: %s".formatted(settings.host(), answer(e)), false, e);
    }

    /** Returns the innermost text of a failure: what the server has said, if it was the server. */
    static String answer(MessagingException e) {
        Exception last = e;
        for (Exception cause = next(e); cause != null; cause = next(cause)) {
            last = cause;
        }
        return String.valueOf(last.getMessage()).strip();
    }

    static @Nullable Exception next(Exception e) {
        return e instanceof MessagingException chained ? chained.getNextException() : null;
    }
}
