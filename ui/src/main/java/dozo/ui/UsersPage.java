package dozo.ui;

import dozo.people.Role;
import dozo.people.Tokens;
import dozo.people.Users;
import dozo.people.Users.Realm;
import dozo.people.Users.User;
import dozo.registry.Refusal;
import java.security.Principal;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Controller;
import org.springframework.ui.Model;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;

/** Users, their roles and their tokens. */
@Controller
@RequestMapping("/administration/users")
class UsersPage {

    private static final int SHOWN = 100;

    private final Users users;
    private final Tokens tokens;

    UsersPage(Users users, Tokens tokens) {
        this.users = users;
        this.tokens = tokens;
    }

    @GetMapping
    String list(@RequestParam(defaultValue = "") String after, Model model) {
        model.addAttribute("users", Cut.of(SHOWN, most -> users.page(after, most), User::name));
        model.addAttribute("first", after.isEmpty() ? null : "");
        return "users";
    }

    @GetMapping("/new")
    String askCreate(Model model) {
        return created(Form.EMPTY, Set.of(), model);
    }

    /** Creates a user. The form does not keep the password, because it is secret. */
    @PostMapping("/new")
    String create(
            @RequestParam(defaultValue = "") String name,
            @RequestParam(defaultValue = "") String password,
            @RequestParam(required = false) @Nullable List<String> roles,
            Principal actor,
            Model model) {
        List<String> chosen = roles == null ? List.of() : roles;
        try {
            User user = users.create(name.strip(), password, Role.of(chosen), actor.getName());
            return to(user.name());
        } catch (Refusal refused) {
            return created(Form.refused(Map.of("name", name), refused), Set.copyOf(chosen), model);
        }
    }

    @GetMapping("/{name}")
    String one(@PathVariable String name, Model model) {
        return shown(find(name), Form.EMPTY, model);
    }

    /** Changes roles, and whether the login is disabled. Only the roles of local users can be changed here. */
    @PostMapping("/{name}")
    String change(
            @PathVariable String name,
            @RequestParam(required = false) @Nullable List<String> roles,
            @RequestParam(defaultValue = "false") boolean disabled,
            Principal actor,
            Model model) {
        User user = find(name);
        try {
            Set<Role> wanted = user.origin() != Realm.LOCAL ? null : Role.of(roles == null ? List.of() : roles);
            changed(users.change(name, wanted, disabled, null, actor.getName()), name);
            return to(name);
        } catch (Refusal refused) {
            return shown(user, Form.refused(Map.of(), refused), model);
        }
    }

    @PostMapping("/{name}/password")
    String setPassword(
            @PathVariable String name, @RequestParam(defaultValue = "") String password, Principal actor, Model model) {
        User user = find(name);
        try {
            changed(users.change(name, null, null, password, actor.getName()), name);
            return to(name);
        } catch (Refusal refused) {
            return shown(user, Form.refused(Map.of(), refused), model);
        }
    }

    private static String created(Form form, Set<String> chosen, Model model) {
        model.addAttribute("form", form);
        model.addAttribute("roles", Role.values());
        model.addAttribute("chosen", chosen);
        return "newuser";
    }

    private String shown(User user, Form form, Model model) {
        model.addAttribute("user", user);
        model.addAttribute("local", user.origin() == Realm.LOCAL);
        model.addAttribute("administrator", user.name().equals(Users.ADMINISTRATOR));
        model.addAttribute("form", form);
        model.addAttribute("roles", Role.values());
        model.addAttribute("tokens", tokens.of(user.name()));
        return "user";
    }

    private User find(String name) {
        return users.find(name).orElseThrow(() -> noUser(name));
    }

    private static void changed(Optional<User> after, String name) {
        if (after.isEmpty()) {
            throw noUser(name);
        }
    }

    private static Refusal noUser(String name) {
        return new Refusal("name", "user \"%s\" does not exist", name);
    }

    private static String to(String name) {
        return "redirect:/administration/users/" + name;
    }
}
