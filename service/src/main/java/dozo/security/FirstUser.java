package dozo.security;

import dozo.people.Users;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.stereotype.Component;

/** Makes sure that the administrator exists before the first request. */
@Component
class FirstUser implements SmartInitializingSingleton {

    private final Administrator administrator;
    private final Users users;

    FirstUser(Administrator administrator, Users users) {
        this.administrator = administrator;
        this.users = users;
    }

    @Override
    public void afterSingletonsInstantiated() {
        users.keepAdministrator(administrator.password());
    }
}
