# The service and its workers as an image. An update ships the last two layers: the program, and its caches for a fast start.

FROM maven:3.9-eclipse-temurin-25 AS build
WORKDIR /build
COPY . .
RUN --mount=type=cache,target=/root/.m2 \
    mvn -q -B -ntp -Dprogram -Dmaven.test.skip package
# Extracted at its final place, because class paths are absolute. Libraries and the program become layers of their own.
WORKDIR /opt/dozo
RUN cp /build/dozo . \
    && ./dozo --image extract /build/service/target/program \
    && mkdir -p /layers/libraries/app \
    && mv app/lib /layers/libraries/app/ \
    && mkdir app/lib \
    && for jar in /build/*/target/program/*.jar /build/batch-jobs/*/target/program/*.jar; do \
        [ ! -f "/layers/libraries/app/lib/${jar##*/}" ] || mv "/layers/libraries/app/lib/${jar##*/}" app/lib/ || exit 1; \
    done \
    && cp -a . /layers/program \
    && find /layers -exec touch -d 2026-01-01T00:00:00Z {} +

FROM eclipse-temurin:25-jre-noble AS program
RUN useradd --uid 10001 --user-group --no-create-home --home-dir /var/lib/dozo --shell /usr/sbin/nologin dozo \
    && install -d -o dozo -g dozo -m 700 /var/lib/dozo /var/spool/dozo \
    && ln -s /opt/dozo/dozo /usr/local/bin/dozo
COPY --from=build /layers/libraries/ /opt/dozo/
COPY --from=build /layers/program/ /opt/dozo/

# Caches belong to the JVM and to the jars of the layers above. They are made by the service's user, but do not belong to it.
FROM program AS rehearsal
RUN chown dozo /opt/dozo/app
USER dozo
RUN ["dozo", "--image", "rehearse"]

FROM program
COPY --from=rehearsal --chown=0:0 /opt/dozo/app/service.aot /opt/dozo/app/command.aot /opt/dozo/app/with-spring.words /opt/dozo/app/rehearsed /opt/dozo/app/
USER 10001
WORKDIR /var/lib/dozo
VOLUME ["/var/lib/dozo", "/var/spool/dozo"]
ENV DOZO_WORK=/var/lib/dozo \
    DOZO_HTTP_ADDRESS=0.0.0.0 \
    DOZO_HTTP_PORT=8080
EXPOSE 8080

# The image has no curl. Anything but 200, and no answer, counts as ill.
HEALTHCHECK --interval=10s --timeout=5s --start-period=10m CMD ["bash", "-c", \
    "exec 3<> /dev/tcp/127.0.0.1/$DOZO_HTTP_PORT && printf 'GET /actuator/health HTTP/1.0\\r\\nHost: localhost\\r\\n\\r\\n' >&3 && read -r _ status _ <&3 && [[ $status == 200 ]]"]

ENTRYPOINT ["dozo"]
CMD ["serve"]
