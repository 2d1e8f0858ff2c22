package dozo.source.flywheel;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * The hierarchy from its groups down to its sessions, container by container: for who looks for what could be an experiment. What
 * is in a session, {@link Spool} reads.
 */
public final class Walk {

    private final Lists lists;

    /** Is told what there is, a container before what is in it. */
    public interface Visitor {

        void container(Container container) throws IOException;

        /** Something that cannot be read, of which nothing below is told; or that needs a word. */
        void item(Item item) throws IOException;
    }

    public Walk(Flywheel flywheel) {
        this.lists = new Lists(flywheel);
    }

    /**
     * Walks all of it. Memory grows with what is in one container.
     *
     * @throws FlywheelException when the groups cannot be listed, or the key is not accepted any more
     */
    public void tell(Visitor visitor) throws IOException, InterruptedException {
        for (Container group : list("/groups", Level.GROUP, visitor)) {
            below(group, Level.PROJECT, visitor);
        }
    }

    private void below(Container above, Level level, Visitor visitor) throws IOException, InterruptedException {
        String path = "/%s/%s/%s".formatted(above.level().plural(), above.id(), level.plural());
        List<Container> children;
        try {
            children = list(path, level, visitor);
        } catch (FlywheelException e) {
            if (e.trouble().endsAll()) {
                throw e;
            }
            visitor.item(Item.of(above, e));
            return;
        }
        for (Container child : children) {
            if (level == Level.PROJECT) {
                below(child, Level.SUBJECT, visitor);
            } else if (level == Level.SUBJECT) {
                below(child, Level.SESSION, visitor);
            }
        }
    }

    private List<Container> list(String path, Level level, Visitor visitor) throws IOException, InterruptedException {
        List<Container> containers = new ArrayList<>();
        Set<String> labels = new HashSet<>();
        lists.all(path, null, node -> {
            Container container = Answers.container(level, node);
            containers.add(container);
            visitor.container(container);
            if (!labels.add(container.label())) {
                visitor.item(Item.of(container, Trouble.DUPLICATE, "another one beside it has the same label"));
            }
        });
        return containers;
    }
}
