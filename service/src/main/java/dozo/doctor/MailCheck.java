package dozo.doctor;

import dozo.message.MailServer;
import dozo.message.MailSettings;
import dozo.start.Settings;
import java.util.List;

/** The mail server: the connection, TLS and the login. No mail is sent. */
final class MailCheck {

    private static final String ABOUT = "mail";

    private MailCheck() {}

    static List<Result> look(MailSettings mail, Installation installation) throws InterruptedException {
        Settings settings = installation.settings(Settings.class).orElse(null);
        if (settings == null) {
            return List.of();
        }
        if (mail.host().isEmpty()) {
            return hasMailRecipients(installation)
                    ? List.of(Result.broken(
                            ABOUT,
                            "no mail server is set, so alerts do not reach those who want mail",
                            "Set DOZO_MAIL_HOST."))
                    : List.of();
        }
        return List.of(MailServer.fault(mail, settings.service().nameHere())
                .map(
                        fault -> Result.broken(
                                ABOUT,
                                fault,
                                "Correct DOZO_MAIL_HOST, DOZO_MAIL_PORT, DOZO_MAIL_TLS, DOZO_MAIL_USER or the password's file, or start the server."))
                .orElseGet(() -> Result.ok(ABOUT, "%s answers".formatted(mail.host()))));
    }

    private static boolean hasMailRecipients(Installation installation) throws InterruptedException {
        return installation
                .catalogue()
                .map(jdbc -> jdbc.sql("select exists (select from recipient where active and channel = 'mail')")
                        .query(Boolean.class)
                        .single())
                .orElse(false);
    }
}
