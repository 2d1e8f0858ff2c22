package dozo.remote;

import dozo.file.FilePath;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Function;
import org.apache.sshd.client.auth.keyboard.UserInteraction;
import org.apache.sshd.client.session.ClientSession;
import org.jspecify.annotations.Nullable;

/**
 * Asks a person for passwords, up to three times each, and remembers them in this process: further connections use them
 * without asking again. While the person is asked, other connections wait. Thread-safe.
 */
public final class Passwords {

    /** As many as ssh. */
    private static final int TRIES = 3;

    /** Servers usually end a login after two minutes. */
    static final Duration PATIENCE = Duration.ofMinutes(5);

    private static final Answer NONE = new Answer(0, "", false);

    private final Function<String, char @Nullable []> terminal;
    private final String whyNot;
    private final Map<String, Answer> answers = new HashMap<>();

    /**
     * What was typed.
     *
     * @param number how often this was asked
     * @param text empty: nothing, so it is not asked again
     */
    private record Answer(int number, String text, boolean accepted) {}

    private Passwords(Function<String, char @Nullable []> terminal, String whyNot) {
        this.terminal = terminal;
        this.whyNot = whyNot;
    }

    /**
     * Returns passwords that are typed.
     *
     * @param terminal shows a question, and returns what is typed without showing it; null or empty: nothing. The array
     *     is overwritten afterwards
     */
    public static Passwords typed(Function<String, char @Nullable []> terminal) {
        return new Passwords(terminal, "");
    }

    /**
     * Returns passwords that cannot be asked for.
     *
     * @param why the reason, as a part of a sentence
     */
    public static Passwords none(String why) {
        return new Passwords(question -> null, why);
    }

    /** Returns whether somebody can be asked. */
    public boolean canAsk() {
        return whyNot.isEmpty();
    }

    /** Returns why nobody can be asked. */
    String whyNot() {
        return whyNot;
    }

    private synchronized Answer answer(String question, int tried) {
        Answer last = answers.getOrDefault(question, NONE);
        if (last.number == tried && !last.accepted && tried < TRIES) {
            String text = text(tried == 0 ? question : "The password was not accepted.\n" + question);
            last = new Answer(text.isEmpty() ? TRIES : tried + 1, text, false);
            answers.put(question, last);
        }
        return last.number > tried ? last : NONE;
    }

    /** NB: the SSH library takes only strings, which cannot be overwritten. */
    private String text(String question) {
        char[] typed = terminal.apply(question);
        if (typed == null) {
            return "";
        }
        try {
            return new String(typed);
        } finally {
            Arrays.fill(typed, '\0');
        }
    }

    private synchronized void accept(String question) {
        answers.computeIfPresent(question, (same, answer) -> new Answer(answer.number, answer.text, true));
    }

    /** Answers the questions of one login. */
    final class Asked implements UserInteraction {

        private final SiteAddress site;
        private final Map<String, Integer> tried = new HashMap<>();
        private int requests;

        Asked(SiteAddress site) {
            this.site = site;
        }

        @Override
        public String @Nullable [] interactive(
                ClientSession session, String name, String instruction, String lang, String[] prompts, boolean[] echo) {
            String[] given = new String[prompts.length];
            boolean complete = requests++ < TRIES;
            for (int i = 0; complete && i < prompts.length; i++) {
                String prompt = FilePath.render(prompts[i].getBytes(StandardCharsets.UTF_8));
                given[i] = next("(%s) %s".formatted(site, prompt));
                complete = !given[i].isEmpty();
            }
            return complete ? given : null;
        }

        @Override
        public @Nullable String resolveAuthPasswordAttempt(ClientSession session) {
            String given = requests++ < TRIES ? next(site + "'s password: ") : "";
            return given.isEmpty() ? null : given;
        }

        @Override
        public @Nullable String getUpdatedPassword(ClientSession session, String prompt, String lang) {
            // Dozo changes no passwords.
            return null;
        }

        private String next(String question) {
            Answer next = answer(question, tried.getOrDefault(question, 0));
            tried.put(question, next.number);
            return next.text;
        }

        /** Records that the login has succeeded: nobody is asked the same again. */
        void accepted() {
            tried.keySet().forEach(Passwords.this::accept);
        }
    }
}
