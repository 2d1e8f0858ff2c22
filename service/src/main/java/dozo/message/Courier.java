package dozo.message;

import dozo.alert.Alerts;
import dozo.alert.Conditions;
import dozo.alert.Outbox;
import dozo.alert.Outbox.Message;
import dozo.alert.Recipients.Channel;
import dozo.db.ActiveService;
import dozo.db.LostDatabase;
import dozo.message.Text.Written;
import dozo.report.MorningReports;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;

/** Looks every minute for conditions and for reports that are due, and sends what recipients are to be told. Only the active service does. */
@Component
class Courier {

    private static final Logger LOG = LoggerFactory.getLogger(Courier.class);

    private final Conditions conditions;
    private final Alerts alerts;
    private final MorningReports reports;
    private final Outbox outbox;
    private final Text text;
    private final Mail mail;
    private final Webhooks webhooks;
    private final ActiveService active;
    private final Set<Channel> underWay = ConcurrentHashMap.newKeySet();

    Courier(
            Conditions conditions,
            Alerts alerts,
            MorningReports reports,
            Outbox outbox,
            Text text,
            Mail mail,
            Webhooks webhooks,
            ActiveService active) {
        this.conditions = conditions;
        this.alerts = alerts;
        this.reports = reports;
        this.outbox = outbox;
        this.text = text;
        this.mail = mail;
        this.webhooks = webhooks;
        this.active = active;
    }

    @Scheduled(initialDelay = 30_000, fixedDelay = 60_000)
    void look() {
        if (active.isHere()) {
            Alerts.Changed changed = alerts.evaluate(conditions.now());
            if (changed.raised() + changed.cleared() > 0) {
                LOG.info("alerts: {} raised, {} cleared", changed.raised(), changed.cleared());
            }
            // After the alerts, which the report tells.
            reports.make().forEach(made -> LOG.info("morning report of {}: {} messages", made.day(), made.messages()));
        }
    }

    /** NB: on threads of their own: a mail server that hangs must hold up neither webhooks nor the start of a night. */
    @Scheduled(initialDelay = 2_000, fixedDelay = 2_000)
    void go() {
        if (active.isHere()) {
            for (Channel channel : Channel.values()) {
                if (underWay.add(channel)) {
                    Thread.ofVirtual().name("courier-" + channel.word()).start(() -> goOnce(channel));
                }
            }
        }
    }

    private void goOnce(Channel channel) {
        try {
            deliver(channel);
        } catch (RuntimeException e) {
            if (LostDatabase.isBehind(e)) {
                LOG.debug("the outbox could not be read", e);
            } else {
                LOG.error("messages by {} were not sent", channel.word(), e);
            }
        } finally {
            underWay.remove(channel);
        }
    }

    /** Sends the messages that are due, until one cannot be delivered now. */
    void deliver(Channel channel) {
        Optional<Message> next = outbox.claim(channel);
        while (next.isPresent() && active.isHere() && delivered(next.get())) {
            next = outbox.claim(channel);
        }
    }

    /** Returns whether others may be delivered too. */
    private boolean delivered(Message message) {
        try {
            Written written = text.of(message);
            switch (message.channel()) {
                case MAIL -> mail.send(message, written);
                case WEBHOOK -> webhooks.send(message, written);
            }
            outbox.sent(message);
            return true;
        } catch (NotDelivered e) {
            LOG.warn("message {} to {} was not delivered: {}", message.id(), message.recipient(), e.getMessage());
            outbox.failed(message, String.valueOf(e.getMessage()), e.isUseless());
            return e.isUseless();
        }
    }
}
