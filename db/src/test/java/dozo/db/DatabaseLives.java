package dozo.db;

import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;

/** Drops test databases when the test or class that created them has ended. */
public final class DatabaseLives implements TestExecutionListener {

    @Override
    public void executionStarted(TestIdentifier test) {
        TestDatabase.open();
    }

    @Override
    public void executionFinished(TestIdentifier test, TestExecutionResult result) {
        TestDatabase.close();
    }
}
