package dozo.alert;

import static java.util.Objects.requireNonNull;

import dozo.file.Digest;
import dozo.ledger.Ledger;
import dozo.ledger.Rows;
import dozo.registry.Code;
import dozo.registry.Refusal;
import java.nio.charset.StandardCharsets;
import java.sql.Types;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.LocalTime;
import java.time.ZoneId;
import java.time.ZonedDateTime;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.RowMapper;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;
import org.springframework.transaction.annotation.Transactional;

/** Who is told about conditions. */
@Component
public class Recipients {

    private static final int ADDRESS_LENGTH_MAX = 500;
    private static final int PROJECTS_MAX = 1_000;
    private static final int REMIND_HOURS_MAX = 8_760;

    /** Addresses of people and lists; no quoted local parts, which a line of a log could not show safely. */
    private static final Pattern MAIL =
            Pattern.compile("[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9]([A-Za-z0-9.-]{0,250}[A-Za-z0-9])?");

    private static final String SELECT = """
            select r.recipient_id as id, r.name, upper(r.channel) as channel, r.address, r.language, r.remind_hours, r.quiet_from,
                   r.quiet_until, r.active, r.morning_report,
                   array(select p.code from recipient_project t join project p using (project_id)
                         where t.recipient_id = r.recipient_id order by p.code) as projects
            from recipient r
            """;

    private static final RowMapper<Recipient> RECIPIENT = Rows.of(Recipient.class);
    private static final RowMapper<Kept> KEPT =
            (row, n) -> new Kept(row.getInt("id"), requireNonNull(RECIPIENT.mapRow(row, n)));

    private final JdbcClient jdbc;
    private final Ledger ledger;

    /** How a message gets to its recipient. */
    public enum Channel {
        MAIL,
        WEBHOOK;

        /** Returns its word in the database and in REST. */
        public String word() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /**
     * A recipient.
     *
     * @param address a mail address; or the file on the service's machine that contains a webhook's URL, which is secret
     * @param projects the codes of the projects that it is told about; empty: all, and sites and the service
     * @param language {@code en} or {@code ja}
     * @param remindHours how often a condition that continues is repeated; null: never
     * @param quietFrom from here to {@code quietUntil} only the gravest conditions are told; null: always all
     * @param active whether it is told anything
     * @param morningReport whether it is told every morning what the night did
     */
    public record Recipient(
            String name,
            Channel channel,
            String address,
            List<String> projects,
            String language,
            @Nullable Integer remindHours,
            @Nullable LocalTime quietFrom,
            @Nullable LocalTime quietUntil,
            boolean active,
            boolean morningReport) {

        public Recipient {
            Code.checked("name", name);
            projects = projects.stream().sorted().distinct().toList();
            checkAddress(channel, address);
            if (!language.equals("en") && !language.equals("ja")) {
                throw new Refusal("language", "\"%s\": expected en or ja", language);
            }
            if (remindHours != null && (remindHours < 1 || remindHours > REMIND_HOURS_MAX)) {
                throw new Refusal("remindHours", "%d: expected 1 to %,d hours", remindHours, REMIND_HOURS_MAX);
            }
            if ((quietFrom == null) != (quietUntil == null) || (quietFrom != null && quietFrom.equals(quietUntil))) {
                throw new Refusal("quietFrom", "expected two different times, or none");
            }
            if (projects.size() > PROJECTS_MAX) {
                throw new Refusal("projects", "expected at most %d", PROJECTS_MAX);
            }
        }

        /**
         * Parses a time of day; null stays null.
         *
         * @throws Refusal if it is malformed
         */
        public static @Nullable LocalTime time(String field, @Nullable String text) {
            try {
                return text == null ? null : LocalTime.parse(text);
            } catch (DateTimeException e) {
                throw new Refusal(field, "\"%s\": expected a time of day such as 22:00", text);
            }
        }

        private static void checkAddress(Channel channel, String address) {
            if (channel == Channel.MAIL) {
                checkMail("address", address);
            } else if (!(address.length() <= ADDRESS_LENGTH_MAX && address.startsWith("/") && Code.isText(address))) {
                throw new Refusal("address", "expected the absolute path of the file that contains the webhook's URL");
            }
        }

        boolean isTold(Condition condition) {
            return projects.isEmpty() || (condition.project() != null && projects.contains(condition.project()));
        }

        /** Returns when it may be told: now, or at the end of its quiet hours. */
        Instant due(Instant now, ZoneId zone, boolean grave) {
            if (quietFrom == null || quietUntil == null || grave) {
                return now;
            }
            ZonedDateTime here = now.atZone(zone);
            LocalTime time = here.toLocalTime();
            boolean quiet = quietFrom.isBefore(quietUntil)
                    ? !time.isBefore(quietFrom) && time.isBefore(quietUntil)
                    : !time.isBefore(quietFrom) || time.isBefore(quietUntil);
            if (!quiet) {
                return now;
            }
            ZonedDateTime end = here.with(quietUntil);
            return (end.isAfter(here) ? end : here.plusDays(1).with(quietUntil)).toInstant();
        }

        /** Returns its settings for the ledger, where an address, which may name a person, is only a digest. */
        private String told() {
            return "%s to SHA-256 %s, projects %s, language %s, reminders %s, quiet %s, %s, morning report %s"
                    .formatted(
                            channel.word(),
                            Digest.ofContent(address.getBytes(StandardCharsets.UTF_8)),
                            projects.isEmpty() ? "all" : String.join(", ", projects),
                            language,
                            remindHours == null ? "never" : "every %d h".formatted(remindHours),
                            quietFrom == null ? "never" : "%s to %s".formatted(quietFrom, quietUntil),
                            active ? "active" : "inactive",
                            morningReport ? "on" : "off");
        }
    }

    record Kept(int id, Recipient recipient) {}

    /** Refuses what is not a mail address. */
    public static void checkMail(String field, String address) {
        if (address.length() > ADDRESS_LENGTH_MAX || !MAIL.matcher(address).matches()) {
            throw new Refusal(field, "expected a mail address such as it@example.org");
        }
    }

    public Recipients(JdbcClient jdbc, Ledger ledger) {
        this.jdbc = jdbc;
        this.ledger = ledger;
    }

    /** Returns all recipients, by name. */
    public List<Recipient> all() {
        return kept("order by r.name").stream().map(Kept::recipient).toList();
    }

    public Optional<Recipient> find(String name) {
        return keptOf(name).map(Kept::recipient);
    }

    Optional<Kept> keptOf(String name) {
        return jdbc.sql(SELECT + "where r.name = :name")
                .param("name", name)
                .query(KEPT)
                .optional();
    }

    List<Kept> active() {
        return kept("where r.active order by r.recipient_id");
    }

    private List<Kept> kept(String which) {
        return jdbc.sql(SELECT + which).query(KEPT).list();
    }

    /**
     * Stores a recipient in place of the one with its name.
     *
     * @throws Refusal if a project does not exist
     */
    @Transactional
    public Recipient put(Recipient recipient, String actor) {
        // Locked, so that the ledger's "before" is what this change replaces.
        jdbc.sql("select from recipient where name = :name for update")
                .param("name", recipient.name)
                .query()
                .listOfRows();
        Optional<Recipient> before = find(recipient.name);
        if (before.filter(recipient::equals).isPresent()) {
            return recipient;
        }
        int id = jdbc.sql("""
                        insert into recipient (name, channel, address, language, remind_hours, quiet_from, quiet_until, active,
                                               morning_report)
                        values (:name, :channel, :address, :language, :remind, :from, :until, :active, :report)
                        on conflict (name) do update
                            set channel = excluded.channel, address = excluded.address, language = excluded.language,
                                remind_hours = excluded.remind_hours, quiet_from = excluded.quiet_from,
                                quiet_until = excluded.quiet_until, active = excluded.active,
                                morning_report = excluded.morning_report
                        returning recipient_id
                        """)
                .param("name", recipient.name)
                .param("channel", recipient.channel.word())
                .param("address", recipient.address)
                .param("language", recipient.language)
                .param("remind", recipient.remindHours, Types.INTEGER)
                .param("from", recipient.quietFrom, Types.TIME)
                .param("until", recipient.quietUntil, Types.TIME)
                .param("active", recipient.active)
                .param("report", recipient.morningReport)
                .query(Integer.class)
                .single();
        jdbc.sql("delete from recipient_project where recipient_id = :id")
                .param("id", id)
                .update();
        int known = jdbc.sql("""
                        insert into recipient_project (recipient_id, project_id)
                        select :id, project_id from project where code = any(:projects)
                        """)
                .param("id", id)
                .param("projects", recipient.projects.toArray(String[]::new))
                .update();
        if (known < recipient.projects.size()) {
            throw new Refusal("projects", "one of %s does not exist", recipient.projects);
        }
        ledger.append(
                actor,
                "recipient.changed",
                recipient.name,
                Map.of("before", before.map(Recipient::told).orElse(""), "after", recipient.told()));
        return recipient;
    }

    /** Removes a recipient, with what it was not told yet. Returns whether there was one. */
    @Transactional
    public boolean remove(String name, String actor) {
        Optional<Recipient> before = find(name);
        before.ifPresent(recipient -> {
            jdbc.sql("delete from recipient where name = :name")
                    .param("name", name)
                    .update();
            ledger.append(actor, "recipient.removed", name, Map.of("before", recipient.told(), "after", ""));
        });
        return before.isPresent();
    }
}
