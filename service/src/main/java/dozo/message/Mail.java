package dozo.message;

import dozo.alert.Outbox.Message;
import dozo.message.Text.Written;
import dozo.start.Settings;
import jakarta.mail.Address;
import jakarta.mail.BodyPart;
import jakarta.mail.MessagingException;
import jakarta.mail.SendFailedException;
import jakarta.mail.Session;
import jakarta.mail.Transport;
import jakarta.mail.internet.InternetAddress;
import jakarta.mail.internet.MimeBodyPart;
import jakarta.mail.internet.MimeMessage;
import jakarta.mail.internet.MimeMultipart;
import java.nio.charset.StandardCharsets;
import java.util.Date;
import org.eclipse.angus.mail.smtp.SMTPAddressFailedException;
import org.eclipse.angus.mail.smtp.SMTPSendFailedException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.stereotype.Component;

/** Sends messages to a mail server, each over a connection of its own. */
@Component
@EnableConfigurationProperties(MailSettings.class)
class Mail {

    private static final Logger LOG = LoggerFactory.getLogger(Mail.class);

    private final MailSettings settings;
    private final String machine;

    Mail(MailSettings settings, Settings all) {
        this.settings = settings;
        this.machine = all.service().nameHere();
    }

    /**
     * Sends a message.
     *
     * @throws NotDelivered if the server has not accepted it
     */
    void send(Message message, Written written) throws NotDelivered {
        if (settings.host().isEmpty()) {
            throw new NotDelivered("no mail server is set: DOZO_MAIL_HOST", false, null);
        }
        Session session = MailServer.session(settings, machine);
        Transport transport = MailServer.connected(session, settings);
        try {
            MimeMessage mail = mail(session, message, written);
            transport.sendMessage(mail, mail.getAllRecipients());
        } catch (SendFailedException e) {
            throw new NotDelivered("the mail server refuses the message: " + MailServer.answer(e), isFinal(e), e);
        } catch (MessagingException e) {
            throw MailServer.unusable(settings, e);
        } finally {
            end(transport);
        }
    }

    /** NB: a message that the server has accepted is sent, however the connection ends. */
    private static void end(Transport transport) {
        try {
            transport.close();
        } catch (MessagingException e) {
            LOG.debug("the connection to the mail server did not end well", e);
        }
    }

    private MimeMessage mail(Session session, Message message, Written written) throws MessagingException {
        // NB: its own id, so that a mail that is sent again after a crash is recognized as the same one (RFC 5322,
        // 3.6.4).
        MimeMessage mail = new MimeMessage(session) {
            @Override
            protected void updateMessageID() throws MessagingException {
                setHeader(
                        "Message-ID",
                        "<dozo-%d-%d@%s>"
                                .formatted(message.id(), message.createdAt().toEpochMilli(), machine));
            }
        };
        mail.setFrom(new InternetAddress(settings.from().isEmpty() ? "dozo@" + machine : settings.from()));
        mail.setRecipients(
                jakarta.mail.Message.RecipientType.TO, new Address[] {new InternetAddress(message.address())});
        mail.setSubject(written.subject(), StandardCharsets.UTF_8.name());
        if (written.html() == null) {
            mail.setText(written.body(), StandardCharsets.UTF_8.name());
        } else {
            mail.setContent(
                    new MimeMultipart("alternative", part("plain", written.body()), part("html", written.html())));
        }
        mail.setSentDate(Date.from(message.createdAt()));
        mail.setHeader("Auto-Submitted", "auto-generated");
        return mail;
    }

    private static BodyPart part(String form, String text) throws MessagingException {
        MimeBodyPart part = new MimeBodyPart();
        part.setText(text, StandardCharsets.UTF_8.name(), form);
        return part;
    }

    /** Returns whether the server has refused the recipient or the message for good: its codes 5yz (RFC 5321, 4.2.1). */
    private static boolean isFinal(SendFailedException e) {
        for (Exception cause = e; cause != null; cause = MailServer.next(cause)) {
            if (cause instanceof SMTPAddressFailedException refused) {
                return refused.getReturnCode() >= 500;
            }
            if (cause instanceof SMTPSendFailedException refused && refused.getReturnCode() >= 500) {
                return true;
            }
        }
        return false;
    }
}
