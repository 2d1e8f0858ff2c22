# syntax=docker/dockerfile:1
# The service as an image. With a source tree mounted read-only and DOZO_DB_URL given it is all that runs.

FROM maven:3.9-eclipse-temurin-25 AS build
WORKDIR /build
COPY . .
RUN --mount=type=cache,target=/root/.m2 \
    mvn -q -B -ntp -DskipTests -Dspotless.check.skip package

FROM eclipse-temurin:25-jre-noble
RUN useradd --uid 10001 --user-group --create-home --home-dir /var/lib/dozo --shell /usr/sbin/nologin dozo
COPY --from=build /build/service/target/dozo.jar /opt/dozo/dozo.jar
USER 10001
WORKDIR /var/lib/dozo
VOLUME /var/lib/dozo
ENV DOZO_WORK=/var/lib/dozo \
    DOZO_HTTP_ADDRESS=0.0.0.0 \
    DOZO_HTTP_PORT=8080 \
    JDK_JAVA_OPTIONS=-Xmx512m
EXPOSE 8080

# The image has no curl. Anything but 200, and no answer, counts as ill.
HEALTHCHECK --interval=15s --timeout=5s --start-period=90s CMD ["bash", "-c", \
    "exec 3<> /dev/tcp/127.0.0.1/$DOZO_HTTP_PORT && printf 'GET /actuator/health HTTP/1.0\\r\\nHost: localhost\\r\\n\\r\\n' >&3 && read -r _ status _ <&3 && [[ $status == 200 ]]"]

ENTRYPOINT ["java", "-XX:+ExitOnOutOfMemoryError", "--enable-native-access=ALL-UNNAMED", \
    "--sun-misc-unsafe-memory-access=allow", "-jar", "/opt/dozo/dozo.jar"]
CMD ["serve"]
