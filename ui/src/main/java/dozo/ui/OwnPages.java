package dozo.ui;

import dozo.people.Tokens;
import dozo.people.Users;
import dozo.people.Users.Realm;
import dozo.people.Users.User;
import dozo.run.FirstSteps;
import java.security.Principal;
import org.springframework.stereotype.Controller;
import org.springframework.ui.Model;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestMapping;

/** Pages that every user has: roles and projects, and tokens for programs. */
@Controller
@RequestMapping("/administration")
record OwnPages(Users users, Tokens tokens, FirstSteps steps) {

    @GetMapping
    String index(Principal actor, Model model) {
        User user = users.find(actor.getName()).orElseThrow();
        model.addAttribute("user", user);
        model.addAttribute("ownPassword", hasOwnPassword(user));
        model.addAttribute("tokens", tokens.of(user.name()).size());
        model.addAttribute(
                "dismissed",
                steps.all().stream().filter(each -> each.dismissedBy() != null).toList());
        return "administration";
    }

    @GetMapping("/tokens")
    String tokens(Principal actor, Model model) {
        model.addAttribute("tokens", tokens.of(actor.getName()));
        model.addAttribute("roles", users.find(actor.getName()).orElseThrow().roles());
        model.addAttribute("daysUsual", Tokens.DAYS_USUAL);
        return "tokens";
    }

    /** Returns whether the password is Dozo's, not the directory's or that of the password file. */
    private static boolean hasOwnPassword(User user) {
        return user.origin() == Realm.LOCAL && !user.name().equals(Users.ADMINISTRATOR);
    }
}
