package dozo.broker;

import com.rabbitmq.client.ConnectionFactory;
import com.rabbitmq.client.impl.CredentialsProvider;
import dozo.run.Notices;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.LongConsumer;
import java.util.function.Supplier;
import javax.net.ssl.SSLContext;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.amqp.core.BindingBuilder;
import org.springframework.amqp.core.FanoutExchange;
import org.springframework.amqp.core.Message;
import org.springframework.amqp.core.MessageBuilder;
import org.springframework.amqp.core.Queue;
import org.springframework.amqp.rabbit.connection.CachingConnectionFactory;
import org.springframework.amqp.rabbit.core.RabbitAdmin;
import org.springframework.amqp.rabbit.core.RabbitTemplate;
import org.springframework.amqp.rabbit.listener.SimpleMessageListenerContainer;

/**
 * Notices over RabbitMQ (AMQP 0-9-1). Each process has a queue of its own that ends with its connection and keeps only the
 * latest notices; an exchange copies each notice to all of them. Nothing is stored, confirmed or sent again, because a
 * notice may be lost. A thread of its own sends, so that a broker that is away, blocks or hangs never holds up a run.
 */
final class RabbitNotices implements Notices, AutoCloseable {

    private static final String EXCHANGE = "dozo.notices";

    /** At most so many notices a second are sent; those in between are one. */
    private static final Duration PAUSE = Duration.ofMillis(50);

    private static final Duration RECONNECT = Duration.ofSeconds(5);
    private static final int CONNECT_MILLIS = 5_000;
    private static final int HEARTBEAT_SECONDS = 10;
    private static final int KEPT_MAX = 10;
    private static final int NOTICE_BYTES_MAX = 20;

    private static final Logger LOG = LoggerFactory.getLogger(RabbitNotices.class);

    private final String self = UUID.randomUUID().toString();
    private final List<LongConsumer> listeners = new CopyOnWriteArrayList<>();
    private final BlockingQueue<Long> next = new ArrayBlockingQueue<>(1);
    private final CachingConnectionFactory connections;
    private final RabbitTemplate template;
    private final SimpleMessageListenerContainer container;
    private final Thread sending = Thread.ofPlatform().daemon().name("notices").unstarted(this::send);
    private volatile boolean away;

    RabbitNotices(BrokerSettings settings) {
        connections = new CachingConnectionFactory(factory(settings));
        // NB: not an AnonymousQueue, which asks for a place in a cluster that older servers do not know.
        Queue own = new Queue(
                EXCHANGE + "." + self, false, true, true, Map.of("x-max-length", KEPT_MAX, "x-overflow", "drop-head"));
        FanoutExchange exchange = new FanoutExchange(EXCHANGE, false, false);
        RabbitAdmin admin = new RabbitAdmin(connections);
        template = new RabbitTemplate(connections);
        template.setUsePublisherConnection(true);
        container = new SimpleMessageListenerContainer(connections);
        container.setAmqpAdmin(admin);
        container.setQueues(own);
        container.setMissingQueuesFatal(false);
        // A wrong password must not end the process: it works without notices.
        container.setPossibleAuthenticationFailureFatal(false);
        container.setRecoveryInterval(RECONNECT.toMillis());
        container.setMessageListener(this::receive);
        connections.addConnectionListener(connection -> {
            admin.declareExchange(exchange);
            admin.declareQueue(own);
            admin.declareBinding(BindingBuilder.bind(own).to(exchange));
            if (away) {
                away = false;
                LOG.warn("the broker answers again");
            }
        });
        container.start();
        sending.start();
        LOG.info("notices go over the broker {}", settings.url());
    }

    private static ConnectionFactory factory(BrokerSettings settings) {
        try {
            ConnectionFactory factory = new ConnectionFactory();
            factory.setUri(settings.url());
            Supplier<String> password = settings.secret();
            // Asked at each connection: the password may have been changed.
            factory.setCredentialsProvider(new CredentialsProvider() {
                @Override
                public String getUsername() {
                    return settings.userName();
                }

                @Override
                public String getPassword() {
                    return password.get();
                }
            });
            factory.setConnectionTimeout(CONNECT_MILLIS);
            factory.setRequestedHeartbeat(HEARTBEAT_SECONDS);
            // Spring connects again.
            factory.setAutomaticRecoveryEnabled(false);
            if (settings.url().startsWith("amqps:")) {
                // NB: by its address alone the client would trust every certificate.
                factory.useSslProtocol(SSLContext.getDefault());
                factory.enableHostnameVerification();
            }
            return factory;
        } catch (URISyntaxException | GeneralSecurityException e) {
            throw new IllegalArgumentException(e);
        }
    }

    @Override
    public void tell(long run) {
        var _ = next.offer(run);
    }

    @Override
    public boolean isAway() {
        return away || !container.isActive() || container.getActiveConsumerCount() == 0;
    }

    @Override
    public void onEach(LongConsumer listener) {
        listeners.add(listener);
    }

    private void send() {
        try {
            while (true) {
                sendOne(next.take());
                Thread.sleep(PAUSE);
            }
        } catch (InterruptedException closing) {
            // Nothing more is sent.
        }
    }

    private void sendOne(long run) {
        try {
            template.send(
                    EXCHANGE,
                    "",
                    MessageBuilder.withBody(Long.toString(run).getBytes(StandardCharsets.US_ASCII))
                            .setAppId(self)
                            .build());
        } catch (RuntimeException e) {
            // NB: also a defect must not end the thread, because nothing would be sent any more.
            if (!away) {
                away = true;
                LOG.warn("the broker does not answer, so workers look from time to time: {}", e.getMessage());
            }
        }
    }

    private void receive(Message message) {
        if (self.equals(message.getMessageProperties().getAppId()) || message.getBody().length > NOTICE_BYTES_MAX) {
            return;
        }
        try {
            long run = Long.parseLong(new String(message.getBody(), StandardCharsets.US_ASCII));
            listeners.forEach(listener -> listener.accept(run));
        } catch (NumberFormatException e) {
            LOG.debug("a notice that is not Dozo's", e);
        }
    }

    @Override
    public void close() {
        sending.interrupt();
        container.stop();
        connections.destroy();
    }
}
