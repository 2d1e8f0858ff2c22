package dozo.ui;

import dozo.people.Role;
import dozo.people.Scope;
import dozo.people.Tokens;
import dozo.people.Tokens.NewToken;
import dozo.people.Users;
import dozo.people.Users.Realm;
import dozo.people.Users.User;
import dozo.registry.Refusal;
import java.security.Principal;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Controller;
import org.springframework.ui.Model;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;

/** Pages that every user has: the password, and tokens for programs. */
@Controller
@RequestMapping("/administration")
class OwnPages {

    private final Users users;
    private final Tokens tokens;

    OwnPages(Users users, Tokens tokens) {
        this.users = users;
        this.tokens = tokens;
    }

    @GetMapping
    String index(Principal actor, Model model) {
        User user = users.find(actor.getName()).orElseThrow();
        model.addAttribute("user", user);
        model.addAttribute("ownPassword", hasOwnPassword(user));
        model.addAttribute("tokens", tokens.of(user.name()).size());
        return "administration";
    }

    @GetMapping("/password")
    String askPassword(Model model) {
        return password(Form.EMPTY, model);
    }

    /** Ends all sessions of the user, including this one. The form keeps no values, because they are secret. */
    @PostMapping("/password")
    String changePassword(
            @RequestParam(defaultValue = "") String present,
            @RequestParam(defaultValue = "") String password,
            @RequestParam(defaultValue = "") String again,
            Principal actor,
            Model model) {
        try {
            if (!password.equals(again)) {
                throw new Refusal("again", "the two new passwords differ");
            }
            users.changeOwnPassword(actor.getName(), present, password);
            return "redirect:/login?logout";
        } catch (Refusal refused) {
            return password(Form.refused(Map.of(), refused), model);
        }
    }

    @GetMapping("/tokens")
    String tokens(Principal actor, Model model) {
        return tokens(actor, Form.EMPTY, null, model);
    }

    /** Creates a token. Only the page of this response shows the secret. */
    @PostMapping("/tokens")
    String create(
            @RequestParam(defaultValue = "") String name,
            @RequestParam(required = false) @Nullable List<String> roles,
            @RequestParam(defaultValue = "false") boolean readOnly,
            @RequestParam(defaultValue = "false") boolean studies,
            @RequestParam(defaultValue = "" + Tokens.DAYS_USUAL) String days,
            Principal actor,
            Model model) {
        Map<String, String> typed = new HashMap<>(Map.of("name", name, "days", days));
        typed.put("readOnly", String.valueOf(readOnly));
        typed.put("studies", String.valueOf(studies));
        try {
            Set<Role> limit = Role.of(roles == null ? List.of() : roles);
            NewToken made = tokens.create(
                    actor.getName(),
                    name.strip(),
                    limit,
                    readOnly,
                    studies ? Scope.STUDIES : Scope.ALL,
                    Numbers.whole("days", days));
            return tokens(actor, Form.EMPTY, made, model);
        } catch (Refusal refused) {
            return tokens(actor, Form.refused(typed, refused), null, model);
        }
    }

    private String tokens(Principal actor, Form form, @Nullable NewToken made, Model model) {
        model.addAttribute("form", form);
        model.addAttribute("made", made);
        model.addAttribute("tokens", tokens.of(actor.getName()));
        model.addAttribute("roles", users.find(actor.getName()).orElseThrow().roles());
        model.addAttribute("daysUsual", Tokens.DAYS_USUAL);
        return "tokens";
    }

    private static String password(Form form, Model model) {
        model.addAttribute("form", form);
        return "password";
    }

    /** Returns whether the password is Dozo's, not the directory's or that of the password file. */
    private static boolean hasOwnPassword(User user) {
        return user.origin() == Realm.LOCAL && !user.name().equals(Users.ADMINISTRATOR);
    }
}
