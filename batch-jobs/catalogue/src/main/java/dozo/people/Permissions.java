package dozo.people;

import dozo.ledger.Sight;
import java.util.Collection;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The one table of permissions, with a line for each endpoint: a method and a path. An endpoint without a line is
 * closed to everybody, and {@code AccessTest} fails. A new endpoint needs a line here and nothing else. The form of an
 * operation of REST, {@code /do/post/holds} of {@code POST /api/v1/holds}, has the line of its operation, without
 * tokens.
 */
public final class Permissions {

    /**
     * The columns are those of {@link Role}, then what a token may use: {@code read}, any token; {@code write}, a token
     * that is not read-only; {@code -}, none. Words of a role: {@code all}; {@code own}, what belongs to the user's own
     * projects: the endpoint filters its lists by {@link dozo.ledger.Sight}, and a foreign {@code {project}} in the
     * path is not found; {@code self}, one's own login, for every logged-in user; {@code -}, nothing.
     */
    private static final String TABLE = """
            method path                                                            LAB_MANAGER OPERATOR AUDITOR ADMIN token
            GET    /                                                               own         all      all     all   -
            GET    /experiments                                                    own         all      all     all   -
            GET    /experiments.csv                                                own         all      all     all   -
            GET    /experiments/selected                                           own         all      all     all   -
            POST   /experiments/selected                                           own         all      all     all   -
            GET    /experiments/{project}/{code}                                   own         all      all     all   -
            GET    /experiments/{project}/{code}/certificate                       own         all      all     all   -
            POST   /experiments/{project}/{code}/certificate                       own         all      all     all   -
            GET    /experiments/{project}/{code}/changes                           own         all      all     all   -
            GET    /experiments/{project}/{code}/content                           own         all      all     all   -
            POST   /experiments/{project}/{code}/download                          own         all      -       all   -
            GET    /experiments/{project}/{code}/frozen                            own         all      all     all   -
            POST   /experiments/{project}/{code}/frozen                            -           all      -       all   -
            GET    /experiments/{project}/{code}/frozen.csv                        own         all      all     all   -
            GET    /experiments/{project}/{code}/manifests/{number}                own         all      all     all   -
            POST   /experiments/{project}/{code}/manifests/{number}/download       own         all      -       all   -
            GET    /experiments/{project}/{code}/picture                           own         all      -       all   -
            GET    /experiments/{project}/{code}/proof                             own         all      all     all   -
            GET    /experiments/{project}/{code}/restore                           own         all      -       all   -
            POST   /experiments/{project}/{code}/restore                           own         all      -       all   -
            GET    /experiments/{project}/{code}/restores/{id}                     own         all      all     all   -
            GET    /report                                                         own         all      all     all   -
            GET    /register                                                       own         all      -       all   -
            POST   /register                                                       own         all      -       all   -
            GET    /register/suggestions                                           own         all      -       all   -
            GET    /register/folders                                               own         all      -       all   -
            POST   /register/folders                                               own         all      -       all   -
            GET    /register/folders/preview                                       own         all      -       all   -
            POST   /register/folders/preview                                       own         all      -       all   -
            GET    /register/csv                                                   own         all      -       all   -
            POST   /register/csv                                                   own         all      -       all   -
            GET    /register/csv/preview                                           own         all      -       all   -
            POST   /register/csv/preview                                           own         all      -       all   -
            GET    /alerts                                                         own         all      all     all   -
            GET    /arrivals                                                       own         all      all     all   -
            POST   /arrivals                                                       own         all      -       all   -
            GET    /arrivals/{id}                                                  own         all      all     all   -
            POST   /arrivals/{id}                                                  own         all      -       all   -
            GET    /origins                                                                -           all      all     all   -
            GET    /origins/new                                                            -           -        -       all   -
            POST   /origins/new                                                            -           -        -       all   -
            GET    /origins/{name}/change                                                  -           -        -       all   -
            POST   /origins/{name}/change                                                  -           -        -       all   -
            GET    /runs                                                            own         all      all     all   -
            GET    /runs.csv                                                        own         all      all     all   -
            GET    /runs/{id}                                                       own         all      all     all   -
            GET    /runs/{id}/events                                                own         all      all     all   -
            GET    /runs/{id}/forecast                                              own         all      all     all   -
            GET    /runs/{id}/reconciliation                                               own         all      all     all   -
            GET    /runs/{id}/reconciliation.csv                                           own         all      all     all   -
            GET    /drills                                                          own         all      all     all   -
            GET    /drills.csv                                                      own         all      all     all   -
            GET    /drills/{id}                                                     own         all      all     all   -
            GET    /restores                                                        own         all      all     all   -
            GET    /restores/{id}                                                   own         all      all     all   -
            GET    /findings                                                        own         all      all     all   -
            GET    /findings.csv                                                    own         all      all     all   -
            GET    /findings/acknowledge                                            own         all      -       all   -
            POST   /findings/acknowledge                                            own         all      -       all   -
            GET    /findings/{id}/acknowledge                                       own         all      -       all   -
            POST   /findings/{id}/acknowledge                                       own         all      -       all   -
            GET    /gaps                                                            own         all      all     all   -
            GET    /gaps.csv                                                        own         all      all     all   -
            GET    /gaps/bookings                                                   own         all      -       all   -
            POST   /gaps/bookings                                                   own         all      -       all   -
            GET    /audit                                                           own         all      all     all   -
            GET    /audit/changes.csv                                               own         all      all     all   -
            GET    /audit/coverage.csv                                              own         all      all     all   -
            GET    /audit/ledger                                                    -           -        all     all   -
            GET    /audit/ledger.csv                                                -           -        all     all   -
            POST   /audit/ledger/verification                                       -           -        all     all   -
            GET    /audit/proof                                                     own         all      all     all   -
            GET    /audit/report                                                    own         all      all     all   -
            GET    /audit/waits.csv                                                 own         all      all     all   -
            GET    /docs                                                            all         all      all     all   -
            GET    /docs/api                                                        all         all      all     all   -
            GET    /docs/openapi.json                                               all         all      all     all   -
            GET    /holds                                                           own         all      all     all   -
            GET    /holds.csv                                                       own         all      all     all   -
            GET    /erasures                                                        own         all      all     all   -
            GET    /search                                                         own         all      all     all   -
            GET    /sites                                                           -           all      all     all   -
            GET    /sites/new                                                       -           -        -       all   -
            POST   /sites/new                                                       -           -        -       all   -
            GET    /sites/{name}/change                                             -           -        -       all   -
            POST   /sites/{name}/change                                             -           -        -       all   -
            GET    /sites/{name}/forecast                                          own         all      all     all   -
            GET    /sites/{name}/check                                              -           all      -       all   -
            POST   /sites/{name}/check                                              -           all      -       all   -
            GET    /sites/{name}/tuning                                             -           all      all     all   -
            POST   /sites/{name}/tuning                                             -           all      -       all   -
            GET    /administration                                                  self        self     self    self  -
            GET    /administration/tokens                                           self        self     self    self  -
            GET    /administration/users                                            -           -        all     all   -
            GET    /administration/users/{name}                                     -           -        all     all   -
            GET    /administration/projects                                         own         all      all     all   -
            GET    /administration/projects/{project}                               own         all      all     all   -
            GET    /api/v1/alerts                                                  own         all      all     all   read
            GET    /api/v1/alerts/recipients                                       -           all      all     all   read
            PUT    /api/v1/alerts/recipients/{name}                                -           -        -       all   write
            DELETE /api/v1/alerts/recipients/{name}                                -           -        -       all   write
            POST   /api/v1/alerts/recipients/{name}/test                           -           all      -       all   write
            POST   /api/v1/bookings/bulk                                           own         all      -       all   write
            GET    /actuator/prometheus                                            -           all      all     all   read
            GET    /api/v1/bookings/worklist                                       -           all      all     all   read
            POST   /api/v1/bookings/worklist                                       -           all      -       all   write
            GET    /api/v1/audit/files                                             own         all      all     all   read
            GET    /api/v1/audit/report                                            own         all      all     all   read
            GET    /api/v1/arrivals                                                own         all      all     all   read
            POST   /api/v1/arrivals/accept                                         own         all      -       all   write
            POST   /api/v1/arrivals/{id}/accept                                    own         all      -       all   write
            POST   /api/v1/arrivals/{id}/dismiss                                   own         all      -       all   write
            POST   /api/v1/arrivals/{id}/takeback                                  own         all      -       all   write
            GET    /api/v1/certificate-key                                         all         all      all     all   read
            GET    /api/v1/commitments                                             -           all      all     all   read
            GET    /api/v1/coverage                                                own         all      all     all   read
            GET    /api/v1/coverage/changes                                        own         all      all     all   read
            GET    /api/v1/coverage/experiments                                    own         all      all     all   read
            GET    /api/v1/coverage/groups                                         own         all      all     all   read
            GET    /api/v1/coverage/sentences                                      own         all      all     all   read
            GET    /api/v1/coverage/unprotected                                    own         all      all     all   read
            GET    /api/v1/coverage/waits                                          own         all      all     all   read
            GET    /api/v1/drills                                                  own         all      all     all   read
            POST   /api/v1/drills                                                  -           all      -       all   write
            GET    /api/v1/drills/forecast                                         own         all      all     all   read
            GET    /api/v1/drills/promises                                         own         all      all     all   read
            GET    /api/v1/drills/{id}                                             own         all      all     all   read
            GET    /api/v1/drills/{id}/findings                                    own         all      all     all   read
            POST   /api/v1/drills/{id}/stop                                        -           all      -       all   write
            GET    /api/v1/erasures                                                own         all      all     all   read
            POST   /api/v1/erasures                                                own         all      -       all   write
            GET    /api/v1/erasures/{id}                                           own         all      all     all   read
            POST   /api/v1/erasures/{id}/approve                                   -           -        -       all   write
            POST   /api/v1/erasures/{id}/withdraw                                  own         all      -       all   write
            POST   /api/v1/erasures/{id}/sites/{name}/statement                    -           -        -       all   write
            GET    /api/v1/experiments                                             own         all      all     all   read
            POST   /api/v1/experiments                                             own         all      -       all   write
            POST   /api/v1/experiments/bulk                                        own         all      -       all   write
            PATCH  /api/v1/experiments/bulk                                        own         all      -       all   write
            GET    /api/v1/experiments/suggestions                                 own         all      -       all   read
            GET    /api/v1/experiments/{project}/{code}                            own         all      all     all   read
            POST   /api/v1/experiments/{project}/{code}/certificate                own         all      all     all   read
            GET    /api/v1/experiments/{project}/{code}/content                    own         all      all     all   read
            GET    /api/v1/experiments/{project}/{code}/content/files              own         all      all     all   read
            GET    /api/v1/experiments/{project}/{code}/content/picture            own         all      -       all   read
            GET    /api/v1/experiments/{project}/{code}/content/series             own         all      all     all   read
            GET    /api/v1/experiments/{project}/{code}/frozen                     own         all      all     all   read
            POST   /api/v1/experiments/{project}/{code}/labels                     own         all      -       all   write
            DELETE /api/v1/experiments/{project}/{code}/labels/{label}             own         all      -       all   write
            PATCH  /api/v1/experiments/{project}/{code}                            own         all      -       all   write
            PUT    /api/v1/experiments/{project}/{code}/list                       own         all      -       all   write
            DELETE /api/v1/experiments/{project}/{code}/list                       own         all      -       all   write
            GET    /api/v1/experiments/{project}/{code}/manifests                  own         all      all     all   read
            GET    /api/v1/experiments/{project}/{code}/manifests/{number}         own         all      all     all   read
            POST   /api/v1/experiments/{project}/{code}/manifests/{number}/download own        all      -       all   read
            GET    /api/v1/experiments/{project}/{code}/manifests/{number}/entries own         all      all     all   read
            GET    /api/v1/experiments/{project}/{code}/manifests/{number}/sha256sums own         all      all     all   read
            GET    /api/v1/experiments/{project}/{code}/proof                      own         all      all     all   read
            POST   /api/v1/experiments/{project}/{code}/release                    -           all      -       all   write
            POST   /api/v1/experiments/{project}/{code}/retirement                 -           all      -       all   write
            DELETE /api/v1/experiments/{project}/{code}/retirement                 -           all      -       all   write
            GET    /api/v1/experiments/{project}/{code}/restores                   own         all      all     all   read
            POST   /api/v1/experiments/{project}/{code}/restores                   own         all      -       all   write
            POST   /api/v1/experiments/{project}/{code}/restores/archive           -           all      -       all   write
            GET    /api/v1/experiments/{project}/{code}/restores/{id}              own         all      all     all   read
            GET    /api/v1/experiments/{project}/{code}/restores/{id}/findings     own         all      all     all   read
            POST   /api/v1/experiments/{project}/{code}/restores/{id}/stop         own         all      -       all   write
            GET    /api/v1/restore-batches                                         own         all      all     all   read
            POST   /api/v1/restore-batches                                         own         all      -       all   write
            POST   /api/v1/restore-batches/archive                                 -           all      -       all   write
            GET    /api/v1/restore-batches/{id}                                    own         all      all     all   read
            GET    /api/v1/restore-batches/{id}/items                              own         all      all     all   read
            POST   /api/v1/restore-batches/{id}/resume                             -           all      -       all   write
            POST   /api/v1/restore-batches/{id}/stop                               own         all      -       all   write
            GET    /api/v1/findings                                                own         all      all     all   read
            GET    /api/v1/findings/groups                                         own         all      all     all   read
            POST   /api/v1/findings/acknowledge                                    own         all      -       all   write
            POST   /api/v1/findings/{id}/acknowledge                               own         all      -       all   write
            POST   /api/v1/findings/{id}/reopen                                    own         all      -       all   write
            GET    /api/v1/forecast                                                own         all      all     all   read
            GET    /api/v1/gaps                                                    own         all      all     all   read
            GET    /api/v1/holds                                                   own         all      all     all   read
            POST   /api/v1/holds                                                   -           all      -       all   write
            POST   /api/v1/holds/{id}/end                                          -           -        -       all   write
            GET    /api/v1/keys                                                            -           -        -       all   read
            POST   /api/v1/keys/{name}/rotation                                            -           -        -       all   -
            DELETE /api/v1/keys/{name}/former                                              -           -        -       all   -
            GET    /api/v1/labels                                                  own         all      all     all   read
            GET    /api/v1/ledger                                                  -           -        all     all   read
            GET    /api/v1/checkpoint                                                      -           -        all     all   read
            GET    /api/v1/checkpoint/consistency                                          -           -        all     all   read
            GET    /api/v1/checkpoint/proof                                                -           -        all     all   read
            POST   /api/v1/checkpoint/declaration                                          -           -        -       all   write
            GET    /api/v1/ledger/verification                                     -           -        all     all   read
            GET    /api/v1/trusted-logs                                                    -           -        all     all   read
            POST   /api/v1/trusted-logs                                                    -           -        -       all   write
            DELETE /api/v1/trusted-logs                                                    -           -        -       all   write
            GET    /api/v1/witness-key                                                     -           -        all     all   read
            GET    /api/v1/witnesses                                                       -           -        all     all   read
            PUT    /api/v1/witnesses/{name}                                                -           -        -       all   write
            DELETE /api/v1/witnesses/{name}                                                -           -        -       all   write
            GET    /api/v1/me                                                      self        self     self    self  read
            PUT    /api/v1/me/password                                             self        self     self    self  -
            GET    /api/v1/me/searches                                             self        self     self    self  read
            PUT    /api/v1/me/searches/{list}/{name}                               self        self     self    self  write
            DELETE /api/v1/me/searches/{list}/{name}                               self        self     self    self  write
            GET    /api/v1/me/tokens                                               self        self     self    self  read
            POST   /api/v1/me/tokens                                               self        self     self    self  -
            POST   /api/v1/me/tokens/{id}/rotation                                         self        self     self    self  -
            DELETE /api/v1/me/tokens/{id}                                          self        self     self    self  write
            GET    /api/v1/openapi                                                 all         all      all     all   read
            GET    /api/v1/origins                                                 -           all      all     all   read
            GET    /api/v1/origins/{name}                                          -           all      all     all   read
            PUT    /api/v1/origins/{name}                                          -           -        -       all   write
            GET    /api/v1/partners                                                        -           all      all     all   read
            GET    /api/v1/partners/{name}/account                                         -           -        -       all   read
            PUT    /api/v1/partners/{name}/acceptance                                      -           -        -       all   write
            PUT    /api/v1/partners/{name}/offer                                           -           -        -       all   write
            GET    /api/v1/plan                                                    own         all      all     all   read
            GET    /api/v1/projects                                                own         all      all     all   read
            POST   /api/v1/projects                                                -           -        -       all   write
            GET    /api/v1/projects/{project}                                      own         all      all     all   read
            PUT    /api/v1/projects/{project}/drill-days                           -           -        -       all   write
            GET    /api/v1/projects/{project}/members                              own         all      all     all   read
            PUT    /api/v1/projects/{project}/members/{name}                       -           -        -       all   write
            DELETE /api/v1/projects/{project}/members/{name}                       -           -        -       all   write
            PUT    /api/v1/projects/{project}/priority                             -           all      -       all   write
            PUT    /api/v1/projects/{project}/late-after                           -           all      -       all   write
            PUT    /api/v1/projects/{project}/site-names                           -           -        -       all   write
            PUT    /api/v1/projects/{project}/roots                                        -           -        -       all   write
            PUT    /api/v1/projects/{project}/restore-roots                        -           -        -       all   write
            POST   /api/v1/projects/{project}/retirement                           -           all      -       all   write
            DELETE /api/v1/projects/{project}/retirement                           -           all      -       all   write
            PUT    /api/v1/projects/{project}/title                                -           all      -       all   write
            PUT    /api/v1/projects/{project}/tripwire                             -           all      -       all   write
            GET    /api/v1/recovery-key                                            -           all      all     all   read
            GET    /api/v1/report                                                  own         all      all     all   read
            GET    /api/v1/retirements                                             own         all      all     all   read
            POST   /api/v1/replications                                            -           all      -       all   write
            GET    /api/v1/runs                                                    own         all      all     all   read
            POST   /api/v1/runs                                                    -           all      -       all   write
            POST   /api/v1/runs/experiments                                        own         all      -       all   write
            GET    /api/v1/runs/{id}                                               own         all      all     all   read
            GET    /api/v1/runs/{id}/experiments                                   own         all      all     all   read
            GET    /api/v1/runs/{id}/findings                                      own         all      all     all   read
            GET    /api/v1/runs/{id}/origins                                       -           all      all     all   read
            GET    /api/v1/runs/{id}/forecast                                      own         all      all     all   read
            POST   /api/v1/runs/{id}/pause                                         -           all      -       all   write
            GET    /api/v1/runs/{id}/reconciliation                                own         all      all     all   read
            POST   /api/v1/runs/{id}/resume                                        -           all      -       all   write
            POST   /api/v1/runs/{id}/retry                                         -           all      -       all   write
            POST   /api/v1/runs/{id}/stop                                          -           all      -       all   write
            GET    /api/v1/runs/{id}/tuning                                        own         all      all     all   read
            GET    /api/v1/health                                                  -           all      all     all   read
            GET    /api/v1/service                                                 own         all      all     all   read
            GET    /api/v1/scanners                                                all         all      all     all   read
            PUT    /api/v1/scanners/{scanner}                                      -           -        -       all   write
            POST   /api/v1/scanners/{scanner}/retirement                           -           all      -       all   write
            DELETE /api/v1/scanners/{scanner}/retirement                           -           all      -       all   write
            POST   /api/v1/scrubs                                                  -           all      -       all   write
            GET    /api/v1/scrubs/plan                                             -           all      all     all   read
            GET    /api/v1/scrubs/promise                                          own         all      all     all   read
            GET    /api/v1/scrubs/promise/experiments                              own         all      all     all   read
            GET    /api/v1/host-key                                                -           -        -       all   write
            GET    /api/v1/search                                                  own         all      all     all   read
            GET    /api/v1/site-key                                                -           -        -       all   read
            GET    /api/v1/site-key/sites                                                  -           -        -       all   write
            GET    /api/v1/site-drills                                             -           all      all     all   read
            POST   /api/v1/site-drills                                             -           all      -       all   write
            GET    /api/v1/site-drills/{id}                                        -           all      all     all   read
            GET    /api/v1/sites                                                   -           all      all     all   read
            GET    /api/v1/sites/{name}                                            -           all      all     all   read
            PUT    /api/v1/sites/{name}                                            -           -        -       all   write
            DELETE /api/v1/sites/{name}                                            -           -        -       all   write
            POST   /api/v1/sites/{name}/retirement                                 -           -        -       all   write
            DELETE /api/v1/sites/{name}/retirement                                 -           -        -       all   write
            GET    /api/v1/sites/{name}/schedules                                  -           all      all     all   read
            PUT    /api/v1/sites/{name}/schedules                                  -           -        -       all   write
            GET    /api/v1/sites/{name}/timetable                                  -           all      all     all   read
            PUT    /api/v1/sites/{name}/title                                      -           -        -       all   write
            PUT    /api/v1/sites/{name}/timetable                                  -           -        -       all   write
            POST   /api/v1/sites/{name}/check                                      -           all      -       all   write
            GET    /api/v1/sites/{name}/tuning                                     -           all      all     all   read
            POST   /api/v1/sites/{name}/tuning                                     -           all      -       all   write
            GET    /api/v1/source-move                                             own         all      all     all   read
            POST   /api/v1/source-move                                             own         -        -       all   write
            GET    /api/v1/source-move/differences                                 own         all      all     all   read
            POST   /api/v1/source-move/stop                                        own         -        -       all   write
            GET    /api/v1/steps                                                   -           all      all     all   read
            POST   /api/v1/steps/{step}/dismissal                                  -           -        -       all   write
            DELETE /api/v1/steps/{step}/dismissal                                  -           -        -       all   write
            GET    /api/v1/studies/{studyInstanceUid}                              own         all      all     all   read
            GET    /api/v1/users                                                   -           -        all     all   read
            POST   /api/v1/users                                                   -           -        -       all   -
            GET    /api/v1/users/{name}                                            -           -        all     all   read
            PATCH  /api/v1/users/{name}                                            -           -        -       all   -
            GET    /api/v1/users/{name}/duties                                     -           -        all     all   read
            POST   /api/v1/users/{name}/departure                                  -           -        -       all   write
            GET    /api/v1/users/{name}/tokens                                     -           -        all     all   read
            DELETE /api/v1/users/{name}/tokens/{id}                                -           -        -       all   write
            """;

    private static final String REST = "/api/v1/";

    private static final String FORMS = "/do/";

    /** The end of the paths that read a CSV file. */
    private static final String FILE = "/bulk";

    /** Where Prometheus reads the metrics. */
    public static final String METRICS = "/actuator/prometheus";

    private static final Map<Endpoint, Line> LINES = read();

    /** The forms of pages that change nothing but the ledger. */
    private static final Set<Endpoint> READING_FORMS = Set.of(
            new Endpoint("POST", "/audit/ledger/verification"),
            new Endpoint("POST", "/experiments/{project}/{code}/certificate"),
            new Endpoint("POST", "/experiments/{project}/{code}/download"),
            new Endpoint("POST", "/experiments/{project}/{code}/manifests/{number}/download"));

    /** A method and a mapped path, with variables in braces. */
    public record Endpoint(String method, String path) {

        /** Returns whether it is for people with a browser, and not for programs. */
        public boolean isPage() {
            return !path.startsWith("/api/") && !path.equals(METRICS);
        }

        /** Returns whether it is the form of an operation of REST. Such a page has the line of its operation. */
        public boolean isForm() {
            return path.startsWith(FORMS);
        }

        /** Returns the path of the form of this operation of REST; null: it changes nothing, or needs more than a form. */
        public @Nullable String form() {
            Line line = LINES.get(this);
            return line == null ? null : Permissions.form(this, line);
        }
    }

    /** How much a role may see and change. */
    public enum Reach {
        NONE,
        SELF,
        OWN,
        ALL
    }

    /** Which tokens may use an endpoint. */
    public enum Token {
        NONE,
        WRITE,
        READ
    }

    public record Line(Map<Role, Reach> reaches, Token token) {

        /** Returns the widest reach of these roles. */
        public Reach of(Collection<Role> roles) {
            Reach farthest = reaches.containsValue(Reach.SELF) ? Reach.SELF : Reach.NONE;
            for (Role role : roles) {
                Reach reach = reaches.getOrDefault(role, Reach.NONE);
                farthest = reach.compareTo(farthest) > 0 ? reach : farthest;
            }
            return farthest;
        }

        /** Returns what a user with these roles and projects sees; empty: they may not use it. */
        public Optional<Sight> sight(Collection<Role> roles, Collection<String> projects) {
            return switch (of(roles)) {
                case NONE -> Optional.empty();
                case SELF -> Optional.of(Sight.of(Set.of()));
                case OWN -> Optional.of(Sight.of(projects));
                case ALL -> Optional.of(Sight.EVERYTHING);
            };
        }
    }

    private Permissions() {}

    /** Returns all endpoints that somebody may use. */
    public static Set<Endpoint> endpoints() {
        return LINES.keySet();
    }

    /** Returns who may use an endpoint; empty: nobody. */
    public static Optional<Line> of(Endpoint endpoint) {
        return Optional.ofNullable(LINES.get(endpoint));
    }

    /** Returns whether these roles may use an endpoint at all. Pages show only such endpoints. */
    public static boolean allow(Collection<Role> roles, Endpoint endpoint) {
        return of(endpoint).filter(line -> line.of(roles) != Reach.NONE).isPresent();
    }

    /**
     * Returns whether only the active service answers: the endpoint changes something. A service that stands by answers
     * only what reads, so that what one process knows of its own requests is complete (ADR 0081).
     */
    public static boolean needActiveService(Endpoint endpoint) {
        return !endpoint.method().equals("GET")
                && !READING_FORMS.contains(endpoint)
                && of(endpoint).filter(line -> line.token() == Token.READ).isEmpty();
    }

    private static Map<Endpoint, Line> read() {
        Map<Endpoint, Line> lines = new LinkedHashMap<>();
        List<String> headings = words(TABLE.lines().findFirst().orElseThrow());
        TABLE.lines().skip(1).forEach(text -> {
            List<String> words = words(text);
            Map<Role, Reach> reaches = new EnumMap<>(Role.class);
            for (Role role : Role.values()) {
                reaches.put(role, value(Reach.class, words.get(headings.indexOf(role.name()))));
            }
            Line line = new Line(Map.copyOf(reaches), value(Token.class, words.get(headings.indexOf("token"))));
            if (lines.put(new Endpoint(words.get(0), words.get(1)), line) != null) {
                throw new IllegalStateException("duplicate line in the table of permissions: " + text);
            }
        });
        Map.copyOf(lines).forEach((rest, line) -> {
            String form = form(rest, line);
            if (form != null) {
                lines.put(new Endpoint("GET", form), new Line(line.reaches(), Token.NONE));
                lines.put(new Endpoint("POST", form), new Line(line.reaches(), Token.NONE));
            }
        });
        return lines;
    }

    private static @Nullable String form(Endpoint rest, Line line) {
        return rest.method().equals("GET")
                        || line.token() == Token.READ
                        || !rest.path().startsWith(REST)
                        || rest.path().endsWith(FILE)
                ? null
                : FORMS + rest.method().toLowerCase(Locale.ROOT) + "/"
                        + rest.path().substring(REST.length());
    }

    private static List<String> words(String line) {
        return List.of(line.split(" +", -1));
    }

    private static <E extends Enum<E>> E value(Class<E> type, String word) {
        return Enum.valueOf(type, word.equals("-") ? "NONE" : word.toUpperCase(Locale.ROOT));
    }
}
