package dozo.ui;

import dozo.alert.Alerts;
import dozo.alert.Outbox;
import dozo.alert.Outbox.Waiting;
import dozo.alert.Recipients;
import dozo.alert.Recipients.Channel;
import dozo.alert.Recipients.Recipient;
import dozo.ledger.Sight;
import dozo.registry.Refusal;
import java.security.Principal;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Controller;
import org.springframework.ui.Model;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;

/** Conditions that need a person or needed one, and who is told about them. */
@Controller
@RequestMapping("/alerts")
class AlertsPage {

    private static final int SHOWN = 50;

    private static final String ON = "on";
    private static final String OFF = "off";

    private final Alerts alerts;
    private final Recipients recipients;
    private final Outbox outbox;

    AlertsPage(Alerts alerts, Recipients recipients, Outbox outbox) {
        this.alerts = alerts;
        this.recipients = recipients;
        this.outbox = outbox;
    }

    /** @param typed may have the alert before which all are, and the name of a recipient to change */
    @GetMapping
    String list(@RequestParam Map<String, String> typed, Sight sight, Model model) {
        Map<String, String> values = new HashMap<>(typed);
        recipients.find(typed.getOrDefault("change", "")).ifPresent(recipient -> fill(values, recipient));
        return list(new Form(values, Map.of()), sight, model);
    }

    private static void fill(Map<String, String> values, Recipient recipient) {
        values.put("name", recipient.name());
        values.put("channel", recipient.channel().word());
        values.put("address", recipient.address());
        values.put("projects", String.join(" ", recipient.projects()));
        values.put("language", recipient.language());
        values.put(
                "remindHours",
                recipient.remindHours() == null ? "" : recipient.remindHours().toString());
        values.put(
                "quietFrom",
                recipient.quietFrom() == null ? "" : recipient.quietFrom().toString());
        values.put(
                "quietUntil",
                recipient.quietUntil() == null ? "" : recipient.quietUntil().toString());
        values.put("morningReport", recipient.morningReport() ? ON : OFF);
    }

    private String list(Form form, Sight sight, Model model) {
        Map<String, Waiting> waiting = new HashMap<>();
        outbox.waiting().forEach(each -> waiting.put(each.recipient(), each));
        long before = number(form.value("before"), Long.MAX_VALUE);
        model.addAttribute("form", form);
        model.addAttribute("open", alerts.page(sight, true, Long.MAX_VALUE, SHOWN));
        model.addAttribute(
                "alerts", Cut.of(SHOWN, most -> alerts.page(sight, false, before, most), alert -> "" + alert.id()));
        model.addAttribute("first", before == Long.MAX_VALUE ? null : "");
        model.addAttribute("recipients", recipients.all());
        model.addAttribute("waiting", waiting);
        model.addAttribute(
                "channels", Arrays.stream(Channel.values()).map(Channel::word).toList());
        return "alerts";
    }

    private static long number(String typed, long otherwise) {
        try {
            return typed.isEmpty() ? otherwise : Long.parseLong(typed);
        } catch (NumberFormatException e) {
            return otherwise;
        }
    }

    @PostMapping("/recipients")
    String save(@RequestParam Map<String, String> typed, Principal actor, Sight sight, Model model) {
        try {
            Form form = new Form(typed, Map.of());
            boolean active =
                    recipients.find(form.value("name")).map(Recipient::active).orElse(true);
            recipients.put(recipient(form, active), actor.getName());
            return "redirect:/alerts#recipients";
        } catch (Refusal refused) {
            return list(Form.refused(typed, refused), sight, model);
        }
    }

    private static Recipient recipient(Form form, boolean active) {
        String channel = form.value("channel");
        if (Arrays.stream(Channel.values()).noneMatch(each -> each.word().equals(channel))) {
            throw new Refusal("channel", "expected mail or webhook");
        }
        return new Recipient(
                form.value("name"),
                channel.equals(Channel.MAIL.word()) ? Channel.MAIL : Channel.WEBHOOK,
                form.value("address"),
                form.value("projects").isBlank()
                        ? List.of()
                        : List.of(form.value("projects").strip().split("[\\s,]+")),
                form.value("language").isEmpty() ? "en" : form.value("language"),
                hours(form.given("remindHours")),
                Recipient.time("quietFrom", form.given("quietFrom")),
                Recipient.time("quietUntil", form.given("quietUntil")),
                active,
                morningReport(form.value("morningReport"), channel));
    }

    private static boolean morningReport(String chosen, String channel) {
        return chosen.isEmpty() ? channel.equals(Channel.MAIL.word()) : chosen.equals(ON);
    }

    private static @Nullable Integer hours(@Nullable String typed) {
        try {
            return typed == null ? null : Integer.valueOf(typed);
        } catch (NumberFormatException e) {
            throw new Refusal("remindHours", "\"%s\": expected a number of hours", typed);
        }
    }
}
