package dozo.security;

import dozo.db.ActiveService;
import dozo.people.Users;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.stereotype.Component;

/** Makes sure that the administrator exists before the first request. */
@Component
class FirstUser implements SmartInitializingSingleton {

    private final Administrator administrator;
    private final Users users;
    private final ActiveService active;

    FirstUser(Administrator administrator, Users users, ActiveService active) {
        this.administrator = administrator;
        this.users = users;
        this.active = active;
    }

    /** NB: a service that stands by may have another file, and must not change the password. */
    @Override
    public void afterSingletonsInstantiated() {
        if (active.isHere()) {
            users.keepAdministrator(administrator.password());
        }
    }
}
