package dozo.api;

import dozo.alert.Alerts;
import dozo.alert.Alerts.Alert;
import dozo.alert.Outbox;
import dozo.alert.Outbox.Waiting;
import dozo.alert.Recipients;
import dozo.alert.Recipients.Channel;
import dozo.alert.Recipients.Recipient;
import dozo.api.http.Missing;
import dozo.api.http.Page;
import dozo.api.http.Verb;
import dozo.ledger.Sight;
import dozo.registry.Refusal;
import dozo.web.Change;
import java.security.Principal;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.DeleteMapping;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.PutMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;

/** Alerts, and who is told about them. */
@Verb.Group(name = "alert", about = "Conditions that need a person, and who is told", section = "Daily work")
@RestController
@RequestMapping("/api/v1/alerts")
public class AlertApi {

    private final Alerts alerts;
    private final Recipients recipients;
    private final Outbox outbox;

    /**
     * All settings of a recipient of alerts. Either {@code mail} or {@code webhookFile} is required.
     *
     * @param mail a mail address
     * @param webhookFile the file on the service's machine that contains the webhook's URL; the URL itself is never sent
     * @param projects the codes of the projects that it is told about; missing or empty: all, and sites and the service
     * @param language the language of its messages: en or ja; missing: en
     * @param remindHours how often a condition that continues is repeated; missing: never
     * @param quietFrom from here to {@code quietUntil} only the gravest conditions are told, as 22:00; missing: always all
     * @param quietUntil as 07:00
     * @param active whether it is told anything; default true
     * @param morningReport whether it is told every morning what the night did; default: true for mail, false for a webhook
     */
    record NewRecipient(
            @Nullable String mail,
            @Nullable String webhookFile,
            @Nullable List<String> projects,
            @Nullable String language,
            @Nullable Integer remindHours,
            @Nullable String quietFrom,
            @Nullable String quietUntil,
            @Nullable Boolean active,
            @Nullable Boolean morningReport) {

        Recipient named(String name) {
            if ((mail == null) == (webhookFile == null)) {
                throw new Refusal("mail", "expected either mail or webhookFile");
            }
            return new Recipient(
                    name,
                    mail == null ? Channel.WEBHOOK : Channel.MAIL,
                    mail == null ? webhookFile : mail,
                    projects == null ? List.of() : projects,
                    language == null ? "en" : language,
                    remindHours,
                    Recipient.time("quietFrom", quietFrom),
                    Recipient.time("quietUntil", quietUntil),
                    !Boolean.FALSE.equals(active),
                    morningReport == null ? mail != null : morningReport);
        }
    }

    /**
     * A recipient of alerts.
     *
     * @param mail missing for a webhook
     * @param webhookFile missing for a mail address
     * @param projects empty: all, and sites and the service
     * @param morningReport whether it is told every morning what the night did
     * @param waiting how many messages are due and not delivered, or were given up within a week
     * @param error why the last attempt of those failed
     */
    public record ShownRecipient(
            String name,
            @Nullable String mail,
            @Nullable String webhookFile,
            List<String> projects,
            String language,
            @Nullable Integer remindHours,
            @Nullable String quietFrom,
            @Nullable String quietUntil,
            boolean active,
            boolean morningReport,
            long waiting,
            @Nullable String error) {

        static ShownRecipient of(Recipient recipient, @Nullable Waiting waiting) {
            boolean mail = recipient.channel() == Channel.MAIL;
            return new ShownRecipient(
                    recipient.name(),
                    mail ? recipient.address() : null,
                    mail ? null : recipient.address(),
                    recipient.projects(),
                    recipient.language(),
                    recipient.remindHours(),
                    recipient.quietFrom() == null ? null : recipient.quietFrom().toString(),
                    recipient.quietUntil() == null
                            ? null
                            : recipient.quietUntil().toString(),
                    recipient.active(),
                    recipient.morningReport(),
                    waiting == null ? 0 : waiting.messages(),
                    waiting == null ? null : waiting.error());
        }
    }

    /** A message that was written. */
    public record Written(long message) {}

    AlertApi(Alerts alerts, Recipients recipients, Outbox outbox) {
        this.alerts = alerts;
        this.recipients = recipients;
        this.outbox = outbox;
    }

    /** Lists the conditions that need a person, or needed one, the newest first. */
    @Verb(
            value = "alert list open=true [--all:open=false]",
            arguments = "--all=also those that are over",
            columns = {
                "SINCE={raisedAt}",
                "CONDITION={kind word}",
                "SITE={site}|",
                "PROJECT={project}|",
                ">COUNT={count}",
                "FIRST={subject}|",
                "OVER={clearedAt}"
            },
            none = "Nothing needs a person.",
            example = "dozo alert list --all")
    @GetMapping
    Page<Alert> list(
            @RequestParam(defaultValue = "false") boolean open,
            @RequestParam(required = false) @Nullable Long after,
            @RequestParam(defaultValue = Page.LIMIT) int limit,
            Sight sight) {
        long before = after == null ? Long.MAX_VALUE : after;
        return Page.of(limit, most -> alerts.page(sight, open, before, most), Alert::id);
    }

    /** Lists the recipients of alerts, by name. */
    @Verb(
            value = "alert recipients",
            columns = {
                "NAME={name}",
                "TO={mail}|{webhookFile}",
                "PROJECTS={projects}|all",
                "LANGUAGE={language}",
                "REMINDERS=every {remindHours} h|never",
                "QUIET={quietFrom}-{quietUntil}|never",
                "REPORT={morningReport?}daily|no",
                "STATE={waiting?}{waiting} not delivered: {error}|{active?}active|inactive"
            },
            none = "Nobody is told yet; `dozo alert save` registers a recipient.",
            example = "dozo alert recipients")
    @GetMapping("/recipients")
    List<ShownRecipient> recipients() {
        Map<String, Waiting> waiting = new TreeMap<>();
        outbox.waiting().forEach(each -> waiting.put(each.recipient(), each));
        return recipients.all().stream()
                .map(each -> ShownRecipient.of(each, waiting.get(each.name())))
                .toList();
    }

    /** Replaces all settings of a recipient. */
    @Verb(
            value =
                    "alert save NAME [--mail=ADDRESS] [--webhook-file=FILE] [--project=P…:projects] [--language=LANGUAGE] [--remind-hours=N] [--quiet-hours=FROM-UNTIL:quietFrom-quietUntil] [--morning-report=YES|NO] [--inactive:active=false]",
            arguments = {
                "--quiet-hours=only the gravest conditions are told then, such as 22:00-07:00",
                "--inactive=it is told nothing"
            },
            about = "Registers a recipient, or replaces all settings of an existing one.",
            says = "{name} will be told; try it: dozo alert test {name}",
            example = "dozo alert save --mail it@example.org --remind-hours 24 --quiet-hours 22:00-07:00 it")
    @PutMapping("/recipients/{name}")
    ShownRecipient put(@PathVariable String name, @RequestBody NewRecipient said, Principal actor) {
        return ShownRecipient.of(recipients.put(said.named(name), actor.getName()), null);
    }

    /** Removes a recipient, with the messages that were not delivered yet. */
    @Verb(value = "alert remove NAME", says = "{name} is no longer told", example = "dozo alert remove it")
    @Change(destroys = true)
    @DeleteMapping("/recipients/{name}")
    @ResponseStatus(HttpStatus.NO_CONTENT)
    void remove(@PathVariable String name, Principal actor) {
        if (!recipients.remove(name, actor.getName())) {
            throw Missing.thing("recipient", name).get();
        }
    }

    /** Sends a message that says only that messages arrive. */
    @Verb(
            value = "alert test NAME",
            says = "message to {name} written; `dozo alert recipients` shows if it cannot be delivered",
            example = "dozo alert test it")
    @PostMapping("/recipients/{name}/test")
    @ResponseStatus(HttpStatus.ACCEPTED)
    Written test(@PathVariable String name, Principal actor) {
        if (recipients.find(name).isEmpty()) {
            throw Missing.thing("recipient", name).get();
        }
        return new Written(outbox.test(name, actor.getName()));
    }
}
