package dozo.run;

import dozo.certificate.LogKeys;
import dozo.certificate.SigningKey;
import dozo.db.ActiveService;
import dozo.db.Starts;
import dozo.record.RecoveryKey;
import dozo.registry.OwnFolders;
import dozo.registry.SiteKey;
import dozo.restore.RestoreQueue;
import java.time.Duration;
import java.time.InstantSource;
import java.time.ZoneId;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import javax.sql.DataSource;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionTimeoutException;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.autoconfigure.context.ConfigurationPropertiesAutoConfiguration;
import org.springframework.boot.autoconfigure.context.LifecycleAutoConfiguration;
import org.springframework.boot.autoconfigure.context.PropertyPlaceholderAutoConfiguration;
import org.springframework.boot.autoconfigure.task.TaskExecutionAutoConfiguration;
import org.springframework.boot.autoconfigure.task.TaskSchedulingAutoConfiguration;
import org.springframework.boot.batch.autoconfigure.BatchAutoConfiguration;
import org.springframework.boot.batch.jdbc.autoconfigure.BatchJdbcAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.JdbcClientAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.JdbcTemplateAutoConfiguration;
import org.springframework.boot.persistence.autoconfigure.PersistenceExceptionTranslationAutoConfiguration;
import org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration;
import org.springframework.boot.transaction.autoconfigure.TransactionManagerCustomizationAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.ComponentScan;
import org.springframework.context.annotation.FilterType;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.DelegatingDataSource;

/**
 * The jobs without the service around them. They start slowly, so those that are at rest after a test are kept for later
 * ones: with the same properties, and another database. What a run leaves in memory is found by its number, so no two
 * databases of a process have runs or restores of the same number.
 */
final class Jobs {

    private static final int KEPT_MAX = 4;
    private static final long NUMBERS_EACH = 1_000;
    private static final Duration LIMIT = Duration.ofSeconds(25);

    /** Those at rest, the one used last at the end. */
    private static final Deque<Jobs> KEPT = new ArrayDeque<>();

    private static final AtomicLong DATABASES = new AtomicLong();

    private final List<String> properties;
    private final ActiveService active;
    private final DelegatingDataSource database;
    private final ConfigurableApplicationContext context;

    /** The names of the databases so far. A test that opens one again means a new process. */
    private final Set<String> used = new HashSet<>();

    /** Not annotated as a configuration, so that no other test's component scan finds it. */
    @ImportAutoConfiguration({
        AopAutoConfiguration.class,
        BatchAutoConfiguration.class,
        BatchJdbcAutoConfiguration.class,
        ConfigurationPropertiesAutoConfiguration.class,
        DataSourceTransactionManagerAutoConfiguration.class,
        JdbcClientAutoConfiguration.class,
        JdbcTemplateAutoConfiguration.class,
        LifecycleAutoConfiguration.class,
        PersistenceExceptionTranslationAutoConfiguration.class,
        PropertyPlaceholderAutoConfiguration.class,
        TaskExecutionAutoConfiguration.class,
        TaskSchedulingAutoConfiguration.class,
        TransactionAutoConfiguration.class,
        TransactionManagerCustomizationAutoConfiguration.class
    })
    @ComponentScan(
            basePackages = "dozo",
            excludeFilters = @ComponentScan.Filter(type = FilterType.CUSTOM, classes = OwnModules.class))
    static class Wiring {
        @Bean
        InstantSource clock() {
            return InstantSource.system();
        }

        @Bean
        Notices notices() {
            return Notices.NONE;
        }

        @Bean
        OwnFolders ownFolders() {
            return new OwnFolders(List.of());
        }

        @Bean
        SiteKey siteKey() {
            return new SiteKey(Night.KEYS.resolve("site-key"));
        }

        @Bean
        SigningKey signingKey() {
            SigningKey key = new SigningKey(Night.KEYS.resolve("certificate-key"));
            key.create();
            return key;
        }

        @Bean
        LogKeys logKeys() {
            LogKeys keys = new LogKeys(
                    new SigningKey(Night.KEYS.resolve("checkpoint-key")),
                    new SigningKey(Night.KEYS.resolve("witness-key")),
                    "test.example.org/ledger");
            keys.create();
            return keys;
        }

        @Bean
        RecoveryKey recoveryKey() {
            RecoveryKey key = new RecoveryKey(Night.KEYS.resolve("recovery-key"));
            key.create();
            return key;
        }

        @Bean
        Timetable timetable() {
            return Timetable.of("-", "");
        }

        @Bean
        ZoneId zone() {
            return ZoneId.systemDefault();
        }

        /** A rebuild is a command with a process of its own, and counts what it has done. */
        @Bean
        static BeanFactoryPostProcessor freshRebuilds() {
            return beans -> beans.getBeanDefinition("rebuild").setScope(BeanDefinition.SCOPE_PROTOTYPE);
        }
    }

    private Jobs(DataSource database, ActiveService active, List<String> properties) {
        this.properties = properties;
        this.active = active;
        this.database = new DelegatingDataSource(database);
        Starts.NIGHT.count();
        context = new SpringApplicationBuilder(Wiring.class)
                .web(WebApplicationType.NONE)
                .properties(properties.toArray(String[]::new))
                .initializers(fresh -> {
                    fresh.getBeanFactory().registerSingleton("dataSource", this.database);
                    fresh.getBeanFactory().registerSingleton("activeService", active);
                })
                .run();
    }

    /** Returns jobs that have never seen this database: of the only service that uses it. */
    static Jobs alone(DataSource database, List<String> properties) {
        String name = beginNumbers(database);
        Jobs kept = kept(name, properties);
        if (kept == null) {
            kept = new Jobs(database, ActiveService.alone(), properties);
        } else {
            kept.database.setTargetDataSource(database);
            kept.get(SiteHours.class).apply();
            kept.get(RestoreQueue.class).start();
        }
        kept.used.add(name);
        return kept;
    }

    /** Returns new jobs of a service. */
    static Jobs of(DataSource database, ActiveService active, List<String> properties) {
        beginNumbers(database);
        return new Jobs(database, active, properties);
    }

    /** Returns the name of the database. Its next runs and restores, if they are its first ones, get numbers of their own. */
    private static String beginNumbers(DataSource database) {
        JdbcClient jdbc = JdbcClient.create(database);
        long first = DATABASES.incrementAndGet() * NUMBERS_EACH + 1;
        for (String sequence : List.of("run_run_id_seq", "restore_restore_id_seq")) {
            var _ = jdbc.sql("select setval('%1$s', ?, false) from %1$s where last_value = 1 and not is_called"
                            .formatted(sequence))
                    .param(first)
                    .query(Long.class)
                    .optional();
        }
        return jdbc.sql("select current_database()").query(String.class).single();
    }

    private static @Nullable Jobs kept(String name, List<String> properties) {
        synchronized (KEPT) {
            for (Iterator<Jobs> each = KEPT.descendingIterator(); each.hasNext(); ) {
                Jobs jobs = each.next();
                if (jobs.properties.equals(properties) && !jobs.used.contains(name)) {
                    each.remove();
                    return jobs;
                }
            }
            return null;
        }
    }

    <T> T get(Class<T> type) {
        return context.getBean(type);
    }

    /** Keeps these jobs if they are at rest, else ends them as the process would. */
    void close() {
        if (!active.isSure() || active.mayBeReplaced() || !comesToRest()) {
            context.close();
            return;
        }
        get(RestoreQueue.class).stop();
        database.setTargetDataSource(null);
        Jobs oldest;
        synchronized (KEPT) {
            KEPT.addLast(this);
            oldest = KEPT.size() > KEPT_MAX ? KEPT.removeFirst() : null;
        }
        if (oldest != null) {
            oldest.context.close();
        }
    }

    private boolean comesToRest() {
        try {
            JdbcClient jdbc = get(JdbcClient.class);
            Executions executions = get(Executions.class);
            boolean works = !executions.idle() && get(Runs.class).goingOn().isPresent()
                    || jdbc.sql("select exists (select from restore where ended_at is null)")
                            .query(Boolean.class)
                            .single();
            if (works
                    || !get(Operations.class).isRunning()
                    || !get(RestoreQueue.class).isRunning()) {
                return false;
            }
            Awaitility.await().atMost(LIMIT).until(executions::idle);
            forget(jdbc);
            return true;
        } catch (DataAccessException | ConditionTimeoutException e) {
            return false;
        }
    }

    /** Ends what a test has used without the run's job. In the database nothing changes, as when a process dies. */
    private void forget(JdbcClient jdbc) {
        get(NightFlows.class).end();
        for (long run : jdbc.sql("select run_id from run").query(Long.class).list()) {
            get(Senders.class).close(run);
            get(Replications.class).close(run);
            get(Limits.class).leave(run);
        }
        for (int site :
                jdbc.sql("select site_id from site").query(Integer.class).list()) {
            get(SiteHours.class).share(site, 1);
        }
    }
}
