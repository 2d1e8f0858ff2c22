package dozo.start;

/** How a process uses the database. */
public enum Role {
    /** Serves people. It is the active service of its database, or stands by. */
    SERVICE,
    /** Runs one command, and needs the database alone. */
    COMMAND,
    /** Joins the runs of the active service. It has no lease of the database, and never changes its schema. */
    WORKER
}
