package dozo.ui;

import dozo.people.Departures;
import dozo.people.Tokens;
import dozo.people.Users;
import dozo.people.Users.Realm;
import dozo.people.Users.User;
import dozo.registry.Refusal;
import org.springframework.stereotype.Controller;
import org.springframework.ui.Model;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;

/** Users, their roles and their tokens. */
@Controller
@RequestMapping("/administration/users")
record UsersPage(Users users, Tokens tokens, Departures departures) {

    private static final int SHOWN = 100;

    @GetMapping
    String list(@RequestParam(defaultValue = "") String after, Model model) {
        model.addAttribute("users", Cut.of(SHOWN, most -> users.page(after, most), User::name));
        return "users";
    }

    @GetMapping("/{name}")
    String one(@PathVariable String name, Model model) {
        User user = users.find(name).orElseThrow(() -> new Refusal("name", "user \"%s\" does not exist", name));
        model.addAttribute("user", user);
        model.addAttribute("local", user.origin() == Realm.LOCAL);
        model.addAttribute("administrator", user.name().equals(Users.ADMINISTRATOR));
        model.addAttribute("duties", departures.duties(user.name()));
        model.addAttribute("tokens", tokens.of(user.name()));
        return "user";
    }
}
